#pragma once

#include <deque>
#include <memory>
#include <thread>

#include "core/base/mutex.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::daemon {

/// Closes drivers that are not used any more, one after another on a thread of its own: to close
/// one can take its grace time.
class DriverCloser {
 public:
  DriverCloser();
  /// Blocks until all are closed.
  ~DriverCloser();
  DriverCloser(const DriverCloser&) = delete;
  DriverCloser& operator=(const DriverCloser&) = delete;

  /// Any thread, also one of the driver; returns at once.
  void close(std::unique_ptr<plugin_host::DriverSet> driver);

 private:
  void run();

  Mutex mutex_;
  Condition woken_;
  std::deque<std::unique_ptr<plugin_host::DriverSet>> waiting_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon
