#pragma once

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// When a patience ends: how long work waits for spot, and how long a spot request may take.
namespace hostler::scheduler {

/// A spot request that is unfulfilled for its pool's spot_patience or longer.
[[nodiscard]] bool is_stale_spot(const HostView& host, Mono now, const model::SitePolicy& policy);

/// When the next patience ends, after `now`: a plan of then may decide otherwise, though nothing
/// else has changed. Mono::max(): none. O(hosts + offerings + classes x pools).
[[nodiscard]] Mono next_patience_end(const Snapshot& snapshot, const model::SitePolicy& policy);

}  // namespace hostler::scheduler
