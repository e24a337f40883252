#include "workers.h"

#include <csignal>
#include <system_error>
#include <utility>

namespace hostler::ec2 {
namespace {

/// A thread has the mask of the one that makes it.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Workers::~Workers() {
  for (Worker& one : workers_) one.thread.join();
}

void Workers::join_ended() {
  for (auto one = workers_.begin(); one != workers_.end();) {
    if (one->has_ended) one->thread.join();
    one = one->has_ended ? workers_.erase(one) : std::next(one);
  }
}

bool Workers::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  join_ended();
  if (workers_.size() >= most_) return false;
  const BlockedSignals blocked;
  Worker& worker = workers_.emplace_back();
  try {
    worker.thread = std::thread([this, &worker, task = std::move(task)]() mutable {
      task();
      task = nullptr;
      const std::lock_guard ended(mutex_);
      worker.has_ended = true;
    });
  } catch (const std::system_error&) {
    workers_.pop_back();
    return false;
  }
  return true;
}

}  // namespace hostler::ec2
