#pragma once

#include <condition_variable>
#include <mutex>

/// Ends calls that hang: opening a set with the word "release" ends all calls that hang in sets
/// that were opened before, and also calls that reach this gate later, since a call may arrive
/// late.
class Gate {
 public:
  int releases() {
    const std::lock_guard lock(mutex_);
    return releases_;
  }
  void wait_for_one_after(int releases) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return releases_ > releases; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    ++releases_;
    released_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  int releases_ = 0;
};
inline Gate& gate() {
  static auto* const g = new Gate;
  return *g;
}
