#include "core/daemon/worker.h"

#include <pthread.h>

#include <utility>

namespace hostler::daemon {
namespace {

constexpr std::size_t kTasksMax = 16;

}  // namespace

Worker::Worker() : thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

bool Worker::post(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    if (stopping_ || tasks_.size() >= kTasksMax) return false;
    tasks_.push_back(std::move(task));
  }
  woken_.notify_one();
  return true;
}

void Worker::run() {
  pthread_setname_np(pthread_self(), "worker");
  const MutexLock lock(mutex_);
  for (;;) {
    woken_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    const MutexUnlock unlocked(mutex_);
    task();
  }
}

}  // namespace hostler::daemon
