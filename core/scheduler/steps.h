#pragma once

#include <vector>

#include "core/scheduler/plan.h"
#include "core/scheduler/targets.h"
#include "core/scheduler/world.h"

/// The steps of make_plan, in their order. Each adds to the plan, and subtracts from the demand and
/// the headroom of the world.
namespace hostler::scheduler {

/// 1. Places waiting items on ready hosts, keeps room there for those that are displaced, and
/// reserves a host for starving work.
void place(World& world, Plan& plan);
/// 1b. Gives gangs their hosts, all at once, or holds these for the gang whose turn is next in its
/// pools. Work that ends before the gang can begin is placed on the hosts that it holds.
void gather(World& world, Plan& plan);
/// 2. Counts waiting items on hosts that boot already. After grow() again, on those that are
/// `unseen`: what other sets can take is bought there.
void cover(World& world, Plan& plan, bool unseen);
/// 3. Wakes switched-off hosts for items that still wait, the cheapest first. A host is woken if it
/// costs at most price_factor_max times the cost of new hosts for the items of one need on it.
void wake(World& world, Plan& plan);
/// Hosts that may be switched on and that the plan does not use yet, cheapest first; of equal
/// prices those without gpus first.
[[nodiscard]] std::vector<std::uint32_t> wakeable(const World& world);
/// The host is switched off and kept, and this plan does not wake it.
[[nodiscard]] bool is_standby(const World& world, std::uint32_t host);
/// The hosts of each pool, with those that the plan wakes, and without its creates.
[[nodiscard]] std::vector<PoolHosts> count_hosts(const World& world);
/// 4. Creates hosts for the remaining items, and for the minimum and standby of each pool.
void grow(World& world, Plan& plan);
/// 5. Replaces dear hosts of minimum and standby (exchange.h), and finds the hosts that give way to
/// waiting work (give_way.h).
/// 6. Switches off or shuts down hosts that nothing needs.
void shrink(World& world, Plan& plan);
/// 7. Explains why classes still wait, and why cheaper types were not bought.
void explain(const World& world, Plan& plan);

/// Why the offering may not be bought for the demand, or empty. Checks constraints, size, price cap
/// and spot patience; not gates, price factor and headroom.
[[nodiscard]] std::string obstacle(const World& world, const Demand& demand,
                                   std::uint32_t offering);
}  // namespace hostler::scheduler
