#include "core/daemon/driver_closer.h"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace hostler::daemon {

DriverCloser::DriverCloser() : thread_([this] { run(); }) {}

DriverCloser::~DriverCloser() {
  wait();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void DriverCloser::close(std::unique_ptr<plugin_host::DriverSet> driver,
                         std::function<void()> closed) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::make_shared<Closing>(Closing{std::move(driver), std::move(closed)}));
    ++open_;
  }
  woken_.notify_one();
}

void DriverCloser::wait() {
  const MutexLock lock(mutex_);
  closed_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return open_ == 0; });
}

void DriverCloser::run() {
  pthread_setname_np(pthread_self(), "driver-closer");
  const MutexLock lock(mutex_);
  for (;;) {
    woken_.wait(mutex_,
                [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto one = std::move(waiting_.front());
    waiting_.pop_front();
    const MutexUnlock unlocked(mutex_);
    try {
      std::thread([this, one] { close_one(one); }).detach();
    } catch (const std::system_error&) {
      close_one(one);
    }
  }
}

void DriverCloser::close_one(const std::shared_ptr<Closing>& one) {
  one->driver.reset();
  one->closed();
  const MutexLock lock(mutex_);
  --open_;
  closed_.notify_all();  // under the lock: who waits may destroy this
}

}  // namespace hostler::daemon
