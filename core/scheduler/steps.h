#pragma once

#include "core/scheduler/plan.h"
#include "core/scheduler/world.h"

/// The steps of make_plan, in their order (architecture.md, "The plan"). Each adds to the plan and
/// uses up demand and headroom of the world.
namespace hostler::scheduler {

/// 1. Work onto hosts that are ready; starving work keeps or gets its reservation.
void place(World& world, Plan& plan);
/// 2. What is coming against what waits.
void cover(World& world);
/// 3. Creates for what is missing, for minimums and for standby.
void grow(World& world, Plan& plan);
/// 4. What is not wanted any more.
void shrink(World& world, Plan& plan);
/// 5. Why each class that still waits does.
void explain(const World& world, Plan& plan);

/// May work of this class be bought here now, gates aside? Empty if so, else the first constraint
/// that fails. Price factor (for one item) and spot patience included; not the headroom.
[[nodiscard]] std::string refuses(const World& world, const Demand& demand, std::uint32_t offering);
}  // namespace hostler::scheduler
