#include "core/scheduler/price_limits.h"

#include <algorithm>
#include <vector>

#include "core/base/units.h"

namespace hostler::scheduler {
namespace {

/// By pool: a host that replaces a dearer one is asked for, comes or is there.
std::vector<bool> exchanging_pools(const World& world, const Plan& plan) {
  std::vector<bool> out(world.policy.pools.size());
  for (const Create& create : plan.creates)
    if (create.is_exchange) out[world.snapshot.offerings[create.offering].pool] = true;
  for (const HostView& host : world.snapshot.hosts)
    if (host.for_exchange && host.is_on() && host.pool < out.size()) out[host.pool] = true;
  return out;
}

/// The hosts of no use that may go, the dearest first.
std::vector<std::uint32_t> dearest_idle(const World& world, const Plan& plan) {
  const std::vector<bool> exchanging = exchanging_pools(world, plan);
  std::vector<std::uint32_t> out;
  const auto& hosts = world.snapshot.hosts;
  for (const std::uint32_t h : world.hosts) {
    const auto* pool = world.pool(hosts[h]);
    if (pool == nullptr || !world.is_idle(h) || exchanging[hosts[h].pool]) continue;
    const PoolNumbers& bounds = world.bounds[hosts[h].pool];
    if (bounds.is_held || bounds.has_unknown_min || world.must_go(h)) continue;
    if (world.snapshot.now - hosts[h].since >= pool->idle_timeout) out.push_back(h);
  }
  std::ranges::stable_sort(out, [&](std::uint32_t a, std::uint32_t b) {
    return hosts[a].price_per_hour > hosts[b].price_per_hour;
  });
  return out;
}

}  // namespace

bool is_above_cap(const World& world, const HostView& host) {
  const auto* pool = world.pool(host);
  return pool != nullptr && pool->price_cap_per_hour.value > 0 &&
         host.price_per_hour > pool->price_cap_per_hour;
}

void keep_price_limits(World& world, const Plan& plan) {
  Budget left = world.budget;
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (host.ends || world.must_go(h)) left.free(host);
  }
  for (const std::uint32_t h : dearest_idle(world, plan)) {
    const HostView& host = world.snapshot.hosts[h];
    if (!is_above_cap(world, host) && left.passed_price(host).empty()) continue;
    world.too_dear[h] = model::Reason::kAbovePriceLimit;
    left.free(host);
  }
}

std::string price_limit_text(const World& world, const HostView& host) {
  const std::string price = format_money(host.price_per_hour.value);
  if (is_above_cap(world, host))
    return "its price of " + price + " is above the cap of pool " + world.pool(host)->name + ", " +
           format_money(world.pool(host)->price_cap_per_hour.value);
  return "it is idle and costs " + price + ", and " + world.budget.passed_price(host) +
         " is above its ceiling: price per hour";
}

}  // namespace hostler::scheduler
