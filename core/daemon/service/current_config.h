#pragma once

#include <memory>
#include <utility>

#include "core/base/mutex.h"
#include "core/config/config.h"

namespace hostler::daemon {

/// The configuration in use, for requests that compare another one with it. Any thread.
class CurrentConfig {
 public:
  void set(config::Config config) {
    auto fresh = std::make_shared<const config::Config>(std::move(config));
    const MutexLock lock(mutex_);
    config_ = std::move(fresh);
  }
  [[nodiscard]] std::shared_ptr<const config::Config> get() const {
    const MutexLock lock(mutex_);
    return config_;
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const config::Config> config_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
