#pragma once

#include <chrono>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

/// Admits one thread at a time to a library that allows one call in the whole process
/// (HOSTLER_THREAD_SERIAL_DRIVER). Unlike a mutex it can be waited for with a deadline, and it
/// stays closed if the call inside hangs for ever. Any thread.
class SerialGate {
 public:
  /// Waits until the gate is free, and takes it. False if `deadline` passes first.
  bool enter(std::chrono::steady_clock::time_point deadline) {
    const MutexLock lock(mutex_);
    if (!free_.wait_until(mutex_, deadline, [this]() HOSTLER_REQUIRES(mutex_) { return !taken_; }))
      return false;
    taken_ = true;
    return true;
  }
  void leave() {
    {
      const MutexLock lock(mutex_);
      taken_ = false;
    }
    free_.notify_one();
  }

 private:
  Mutex mutex_;
  Condition free_;
  bool taken_ HOSTLER_GUARDED_BY(mutex_) = false;
};

}  // namespace hostler::plugin_host
