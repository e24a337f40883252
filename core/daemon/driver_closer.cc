#include "core/daemon/driver_closer.h"

#include <pthread.h>

#include <utility>

namespace hostler::daemon {

DriverCloser::DriverCloser() : thread_([this] { run(); }) {}

DriverCloser::~DriverCloser() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void DriverCloser::close(std::unique_ptr<plugin_host::DriverSet> driver) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::move(driver));
  }
  woken_.notify_one();
}

void DriverCloser::run() {
  pthread_setname_np(pthread_self(), "driver-closer");
  const MutexLock lock(mutex_);
  for (;;) {
    woken_.wait(mutex_,
                [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto driver = std::move(waiting_.front());
    waiting_.pop_front();
    const MutexUnlock unlocked(mutex_);
    driver.reset();
  }
}

}  // namespace hostler::daemon
