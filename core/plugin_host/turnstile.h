#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hostler::plugin_host {

/// Lets one thread at a time into a library that is serial as a whole. Unlike a mutex it is waited
/// for up to a deadline, and left by whoever holds it, if ever.
class Turnstile {
 public:
  /// False if `deadline` passes first.
  bool enter(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!free_.wait_until(lock, deadline, [this] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
    }
    free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

}  // namespace hostler::plugin_host
