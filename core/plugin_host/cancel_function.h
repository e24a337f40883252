#pragma once

#include <memory>
#include <thread>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

/// The function that a driver registers with hostler_op.on_cancel (R29). An operation has at most
/// one. It runs at most once, on a thread of its own, so that a slow one delays nobody else.
///
/// Threads: any. The object has no lock of its own: its owner guards it with one mutex and passes
/// that mutex to start() and wait().
class CancelFunction {
 public:
  using Function = void (*)(void* argument);

  /// Registers `function` in place of the one before it; NULL registers none.
  void set(Function function, void* argument);
  void remove() { function_ = nullptr; }
  /// Whether a function is registered or is running now.
  [[nodiscard]] bool in_use() const { return function_ != nullptr || running_; }

  /// Starts a thread that runs the registered function; does nothing if there is none, or if the
  /// system has no thread left. `owner` keeps this object alive until the function has returned.
  void start(Mutex& mutex, std::shared_ptr<void> owner) HOSTLER_REQUIRES(mutex);
  /// Waits, without the mutex, until a running function has returned. Returns at once on the
  /// function's own thread, where the function itself is the caller.
  void wait(Mutex& mutex) HOSTLER_REQUIRES(mutex);

 private:
  void run(Mutex& mutex);

  Function function_ = nullptr;
  void* argument_ = nullptr;
  bool running_ = false;
  std::thread::id thread_;  ///< Set while the function runs.
  Condition returned_;
};

}  // namespace hostler::plugin_host
