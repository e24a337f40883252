#pragma once

#include <string>

#include "core/base/mutex.h"
#include "core/model/cloud.h"

namespace hostler::plugin_host {

/// What is too long or too much in the request, and what to do about it; empty: nothing.
std::string beyond_limits(const model::CreateRequest& request, const model::SetInfo& info);

/// The limits of a set's account, since its driver has reported them. A create beyond them is not
/// sent: the error of a provider would say less. Any thread.
class AccountLimits {
 public:
  void learn(const model::SetInfo& info) {
    const MutexLock lock(mutex_);
    info_ = info;
  }
  [[nodiscard]] std::string refuse(const model::CreateRequest& request) const {
    const MutexLock lock(mutex_);
    return beyond_limits(request, info_);
  }

 private:
  mutable Mutex mutex_;
  model::SetInfo info_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::plugin_host
