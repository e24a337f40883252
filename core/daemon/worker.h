#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

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

  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<std::function<void()>> tasks_;  ///< Guarded by mutex_.
  bool stopping_ = false;                    ///< Guarded by mutex_.
  std::thread thread_;
};

}  // namespace hostler::daemon
