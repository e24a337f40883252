#pragma once

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// `scaling.lifetime_min`: a young host does not go because of bounds.
namespace hostler::scheduler {

/// When the host is young no longer. A plan is due then.
[[nodiscard]] inline Mono end_of_youth(const HostView& host, const model::PoolPolicy& pool) {
  return host.created + pool.scaling.lifetime_min;
}
[[nodiscard]] inline bool is_young(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  return now < end_of_youth(host, pool);
}

}  // namespace hostler::scheduler
