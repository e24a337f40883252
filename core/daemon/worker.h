#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "core/base/mutex.h"

namespace hostler::daemon {

/// A thread that runs long tasks one after the other, so that other threads need not wait.
class Worker {
 public:
  Worker();
  /// Waits for the running task; tasks that wait are not run.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Any thread; returns at once. False, and the task is not run, if too many wait already. `task`
  /// must not throw.
  [[nodiscard]] bool post(std::function<void()> task);

 private:
  void run();

  Mutex mutex_;
  Condition woken_;
  std::deque<std::function<void()>> tasks_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon
