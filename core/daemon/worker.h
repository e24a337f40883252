#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "core/base/mutex.h"

namespace hostler::daemon {

/// One thread for what would keep others waiting, one thing after the other.
class Worker {
 public:
  Worker();
  /// Ends what is under way; what waits is dropped.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// False, and nothing happens, if too much waits already. Any thread; `task` runs on the worker's
  /// and must not throw.
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
