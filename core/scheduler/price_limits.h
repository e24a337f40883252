#pragma once

#include <string>

#include "core/scheduler/plan.h"
#include "core/scheduler/world.h"

/// Prices change while hosts run: the hosts that a pool keeps without work must stay within the
/// limits for prices, too.
namespace hostler::scheduler {

/// The host costs more than the cap of its pool.
[[nodiscard]] bool is_above_cap(const World& world, const HostView& host);

/// Sets World::too_dear of idle hosts of minimum and standby, beyond their idle timeout, the
/// dearest first: of those above the cap of their pool, and of as many as it takes until no ceiling
/// is passed. A pool that has begun an exchange is left alone. After exchange().
void keep_price_limits(World& world, const Plan& plan);

/// Why such a host ends.
[[nodiscard]] std::string price_limit_text(const World& world, const HostView& host);

}  // namespace hostler::scheduler
