#pragma once

#include <cstdint>
#include <vector>

#include "core/scheduler/world.h"

/// Reserves hosts for starving work: it waits longer than its pool's starvation_after, because
/// smaller work takes all room that becomes free.
namespace hostler::scheduler {

/// The reservations of the last plan that are still needed: by host, the demand, or kNone.
[[nodiscard]] std::vector<std::uint32_t> reservations(const World& world);

/// Reserves a host for the first starving demand, if it has none: highest priority, then next turn.
void reserve_one(const World& world, std::vector<std::uint32_t>& reserved);

}  // namespace hostler::scheduler
