#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

/// Tasks from any thread that one thread runs in order. The functions take no other lock, so a
/// caller may hold any lock.
class TaskQueue {
 public:
  using Task = std::function<void()>;

  void post(Task task) {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    wake_.notify_one();
  }
  /// Ends the wait in next() without a task: the time to wait for has changed.
  void wake() {
    const MutexLock lock(mutex_);
    woken_ = true;
    wake_.notify_one();
  }
  /// Waits for a task and removes it. Nothing if wake() was called or `until` passed first.
  std::optional<Task> next(std::optional<std::chrono::steady_clock::time_point> until) {
    const MutexLock lock(mutex_);
    const auto ready = [this]() HOSTLER_REQUIRES(mutex_) { return woken_ || !tasks_.empty(); };
    if (until) {
      wake_.wait_until(mutex_, *until, ready);
    } else {
      wake_.wait(mutex_, ready);
    }
    woken_ = false;
    if (tasks_.empty()) return std::nullopt;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

 private:
  Mutex mutex_;
  Condition wake_;
  std::deque<Task> tasks_ HOSTLER_GUARDED_BY(mutex_);
  bool woken_ HOSTLER_GUARDED_BY(mutex_) = false;
};

}  // namespace hostler::plugin_host
