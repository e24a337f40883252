#pragma once

#include <atomic>
#include <thread>

#include "core/base/files.h"

namespace hostler::driver_host {

/// Wakes a thread that waits in poll(). It owns the descriptor, and has no lock.
///
/// Threads: wake() on any; the others on the thread that waits.
class Wakeup {
 public:
  Wakeup();

  /// From now on the calling thread is the one that waits.
  void set_waiter() { waiter_ = std::this_thread::get_id(); }
  /// The next or current poll() returns at once. Does nothing on the thread that waits: it looks
  /// for work before it polls.
  void wake() const;
  /// To be polled: POLLIN after a wake(), until clear().
  [[nodiscard]] int fd() const { return event_.get(); }
  void clear() const;

 private:
  const UniqueFd event_;
  std::atomic<std::thread::id> waiter_;
};

}  // namespace hostler::driver_host
