#pragma once

#include "core/scheduler/plan.h"
#include "core/scheduler/world.h"

/// The steps of make_plan, in their order. Each adds to the plan and uses up demand and headroom of
/// the world.
namespace hostler::scheduler {

/// 1. Work onto hosts that are ready; starving work keeps or gets its reservation.
void place(World& world, Plan& plan);
/// 2. What is coming against what waits.
void cover(World& world);
/// 3. What is switched off against what still waits: cheapest first, and where it is worth it: the
/// price factor over what those alike that would share it would pay on hosts of their own.
void wake(World& world, Plan& plan);
/// Hosts that may be switched on and are not used yet, cheapest first.
[[nodiscard]] std::vector<std::uint32_t> wakeable(const World& world);
/// The host is switched off to be kept so, and not woken by this plan.
[[nodiscard]] bool is_standby(const World& world, std::uint32_t host);
/// 4. Creates for what is missing, for minimums and for standby, switched off or not.
void grow(World& world, Plan& plan);
/// 5. What is not wanted any more.
void shrink(World& world, Plan& plan);
/// 6. Why each class that still waits does, and why nothing cheaper is bought.
void explain(const World& world, Plan& plan);

/// May work of this class be bought here now, gates and price factor aside? Empty if so, else the
/// first constraint that fails. Spot patience included; not the headroom.
[[nodiscard]] std::string bars(const World& world, const Demand& demand, std::uint32_t offering);
}  // namespace hostler::scheduler
