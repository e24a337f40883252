#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "core/base/mutex.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::daemon {

/// Closes drivers that are not used any more, each on a thread of its own: to close one can take
/// its grace time, and none waits for another.
class DriverCloser {
 public:
  DriverCloser();
  /// Blocks until all are closed.
  ~DriverCloser();
  DriverCloser(const DriverCloser&) = delete;
  DriverCloser& operator=(const DriverCloser&) = delete;

  /// Any thread, also one of the driver; returns at once. `closed` is called when it is closed.
  void close(std::unique_ptr<plugin_host::DriverSet> driver, std::function<void()> closed);
  /// Blocks until all that were given are closed.
  void wait();

 private:
  struct Closing {
    std::unique_ptr<plugin_host::DriverSet> driver;
    std::function<void()> closed;
  };

  void run();
  void close_one(const std::shared_ptr<Closing>& one) HOSTLER_EXCLUDES(mutex_);

  Mutex mutex_;
  Condition woken_, closed_;
  std::deque<std::shared_ptr<Closing>> waiting_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t open_ HOSTLER_GUARDED_BY(mutex_) = 0;  ///< Given, and not closed yet.
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;  ///< Starts the others, and closes where there can be none.
};

}  // namespace hostler::daemon
