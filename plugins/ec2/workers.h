#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hostler::ec2 {

/// Threads for calls that are PENDING, one for each. They block all signals. The destructor waits
/// until all have ended, so every call has to end first.
class Workers {
 public:
  explicit Workers(std::size_t most) : most_(most) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs `task`, which throws nothing, on a thread of its own. \return false: too many run, and
  /// this one does not.
  bool run(std::function<void()> task);

 private:
  struct Worker {
    std::thread thread;
    bool has_ended = false;  // under mutex_
  };

  void join_ended();

  const std::size_t most_;
  std::mutex mutex_;
  std::list<Worker> workers_;  ///< Under mutex_.
};

}  // namespace hostler::ec2
