#pragma once

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// `scaling.lifetime_min`: a young host does not go because of bounds.
namespace hostler::scheduler {

/// When bounds may let the host go, by its age. A plan is due then, if it is later than now.
[[nodiscard]] inline Mono end_of_youth(const HostView& host, const model::PoolPolicy& pool) {
  return host.created + pool.scaling.lifetime_min;
}

}  // namespace hostler::scheduler
