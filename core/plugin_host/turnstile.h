#pragma once

#include <chrono>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

/// Lets one thread at a time into a library that is serial as a whole. Unlike a mutex it is waited
/// for up to a deadline, and left by whoever holds it, if ever.
class Turnstile {
 public:
  /// False if `deadline` passes first.
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
