#include "core/scheduler/exchange.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/scheduler/price_limits.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/shutdown_rule.h"
#include "core/scheduler/steps.h"
#include "core/scheduler/targets.h"

namespace hostler::scheduler {
namespace {

/// The hosts of one pool.
struct Kept {
  std::uint32_t dearest = kNone;  ///< Idle beyond its idle timeout.
  std::uint32_t fresh = kNone;    ///< Made for an exchange, ready and idle.
  bool is_busy_with_it = false;   ///< A host without work comes already, or one has just ended.
};

std::vector<Kept> kept_hosts(const World& world) {
  std::vector<Kept> out(world.policy.pools.size());
  const auto& hosts = world.snapshot.hosts;
  const auto price = [&](std::uint32_t h) { return hosts[h].price_per_hour; };
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = hosts[h];
    if (host.pool >= out.size()) continue;
    Kept& kept = out[host.pool];
    if (host.phase == HostPhase::kComing && !world.used[h]) kept.is_busy_with_it = true;
    if (!world.is_idle(h)) continue;
    if (host.for_exchange) kept.fresh = h;
    if (!still_true(model::Reason::kIdle, host, world.closed[h], world.policy.pools[host.pool],
                    world.snapshot.now))
      continue;
    if (kept.dearest == kNone || price(kept.dearest) < price(h)) kept.dearest = h;
  }
  return out;
}

bool is_worth_it(const HostView& dear, const Offering& o, const model::PoolPolicy& pool) {
  const double hours = std::chrono::duration<double, std::ratio<3600>>(pool.boot_timeout).count();
  const auto price = static_cast<double>(o.price_per_hour.value);
  return static_cast<double>(dear.price_per_hour.value) - price > price * hours;
}

class Exchange {
 public:
  Exchange(World& world, Plan& plan) : world_(world), plan_(plan), pools_(count_hosts(world)) {
    for (const Create& create : plan.creates)
      ++pools_[world.snapshot.offerings[create.offering].pool].alive;
  }

  void run() {
    const auto kept = kept_hosts(world_);
    for (std::uint32_t p = 0; p < kept.size(); ++p) {
      const bool rests = entry_of(world_.snapshot.rests, p).exchange;
      const std::int64_t missing =
          target_of(world_.bounds[p], pools_[p].in_use()).missing(pools_[p]);
      if (world_.bounds[p].is_held || kept[p].dearest == kNone || kept[p].is_busy_with_it) continue;
      if (world_.bounds[p].has_unknown_min) continue;
      if (kept[p].fresh != kNone && missing < 0)
        finish(kept[p]);
      else if (!rests && missing == 0)
        begin(p, kept[p].dearest);
    }
  }

 private:
  /// The new host is ready, and one is too many.
  void finish(const Kept& kept) {
    const auto& hosts = world_.snapshot.hosts;
    if (hosts[kept.fresh].price_per_hour < hosts[kept.dearest].price_per_hour)
      world_.too_dear[kept.dearest] = model::Reason::kExchanged;
  }

  void begin(std::uint32_t p, std::uint32_t dearest) {
    const HostView& dear = world_.snapshot.hosts[dearest];
    for (const std::uint32_t i : world_.offers) {  // Cheapest first.
      const Offering& o = world_.snapshot.offerings[i];
      if (o.pool != p || !o.shut.empty() || !within_cap(o, world_.policy) ||
          !world_.budget.rate_allows(o))
        continue;
      if (o.price_per_hour >= dear.price_per_hour) return;
      if (!is_above_cap(world_, dear) && !is_worth_it(dear, o, world_.policy.pools[p])) return;
      if (world_.budget.has_room(o)) return create(i, dear);
      Budget without = world_.budget;
      without.free(dear);
      if (!without.has_room(o)) continue;
      world_.too_dear[dearest] = model::Reason::kExchanged;
      return;
    }
  }

  void create(std::uint32_t o, const HostView& dear) {
    world_.budget.create(world_.snapshot.offerings[o], 1);
    Create& added = plan_.creates.emplace_back();
    added.offering = o;
    added.is_exchange = true;
    added.reason = "it costs less than " + dear.id.text() + ", which it replaces";
  }

  World& world_;
  Plan& plan_;
  std::vector<PoolHosts> pools_;
};

}  // namespace

void exchange(World& world, Plan& plan) {
  const auto keeps = [](const PoolNumbers& pool) {
    return pool.started.min.value > 0 || pool.standby.value > 0;
  };
  if (std::ranges::none_of(world.bounds, keeps) ||
      std::ranges::any_of(world.demand,
                          [](const Demand& d) { return d.left > 0 || d.missing > 0; }))
    return;
  Exchange(world, plan).run();
}

}  // namespace hostler::scheduler
