#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/model/quotas.h"

namespace hostler::daemon {

/// The quotas of the configuration, for requests that do not go to the loop. Any thread.
class CurrentQuotas {
 public:
  void set(model::Quotas quotas) {
    auto fresh = std::make_shared<const model::Quotas>(std::move(quotas));
    const MutexLock lock(mutex_);
    quotas_ = std::move(fresh);
  }
  [[nodiscard]] model::Quota of(const std::string& principal) const {
    std::shared_ptr<const model::Quotas> quotas;
    {
      const MutexLock lock(mutex_);
      quotas = quotas_;
    }
    return quotas ? quotas->of(principal) : model::Quota{};
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const model::Quotas> quotas_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
