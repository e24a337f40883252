#pragma once

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/beyond_max.h"
#include "core/scheduler/plan.h"

namespace hostler::scheduler {

/// Whether the reason of a shutdown is true of the host now: its view has the facts that the reason
/// is about, and no work runs on it, unless it is unreachable or its pool is abandoned. Plans ask
/// this when they choose a host, and whoever applies a plan asks it again. HostView::kept is not
/// looked at. `closed`: why the host is closed now. False for a reason that no shutdown has.
[[nodiscard]] bool still_true(model::Reason code, const HostView& host, Closed closed,
                              const model::PoolPolicy& pool, Mono now);

/// Why a closed host ends once it is empty. Not for kNo.
[[nodiscard]] model::Reason end_of(Closed closed);

}  // namespace hostler::scheduler
