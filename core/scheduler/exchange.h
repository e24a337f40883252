#pragma once

#include "core/scheduler/plan.h"
#include "core/scheduler/world.h"

namespace hostler::scheduler {

/// The minimum and standby of a pool are kept by the cheapest hosts that can be had: an idle host
/// beyond its idle timeout is exchanged if a new one saves more in an hour than its boot may cost
/// (its price for the boot timeout). One at a time in each pool, and only while no work waits and
/// the pool has what its target says. Adds a Create for the new host; once that is ready, or at
/// once if a ceiling has no room for both, sets World::too_dear of the dear one. After grow().
void exchange(World& world, Plan& plan);

}  // namespace hostler::scheduler
