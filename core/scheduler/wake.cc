#include <algorithm>
#include <map>
#include <tuple>

#include "core/scheduler/fit.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/room.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

/// A switched-off host, and the waiting items that the plan assigns to it. It is woken if there are
/// any.
struct WakeCandidate {
  std::uint32_t host = 0;
  HostRoom room;
  std::vector<demand::Load> load;
  std::uint64_t items = 0;
  bool displaced = false;
};

/// Assigns as many items of the demand to the candidate as it has room for; returns how many.
std::uint64_t assign(World& world, Demand& demand, WakeCandidate& candidate) {
  const Need& need = world.needs[demand.need];
  const HostView& host = world.snapshot.hosts[candidate.host];
  const std::uint64_t count =
      world.affordable(demand, host, candidate.room.count(need, demand.uncovered));
  if (count == 0) return 0;
  world.pay(demand, host, count);
  candidate.room.take(need, count);
  demand.uncovered -= count;
  candidate.load.push_back({demand.view->id, static_cast<std::uint32_t>(count)});
  candidate.items += count;
  candidate.displaced = candidate.displaced || demand.view->displaced;
  return count;
}

bool has_room(const World& world, const Demand& demand, const WakeCandidate& candidate) {
  const Need& need = world.needs[demand.need];
  return demand.uncovered > 0 && candidate.room.holds(need) &&
         world.meets(need, world.snapshot.hosts[candidate.host]) &&
         world.affordable(demand, world.snapshot.hosts[candidate.host], 1) > 0;
}

/// Compares the price of a host with the price of new hosts for the same items. One object serves
/// one plan: it keeps results.
class WakeCost {
 public:
  explicit WakeCost(const World& world) : world_(world), waiting_(world.needs.size()) {
    for (const Demand& demand : world.demand)
      waiting_[demand.need] = add(waiting_[demand.need], demand.uncovered);
  }

  /// True if the host is not too dear beside new hosts for the items of this need that fit on it.
  /// Items of other needs that would share the host do not count: the cost of new hosts for a
  /// mixture is not known.
  bool is_worth_it(const Demand& demand, const WakeCandidate& candidate) {
    const std::uint32_t offering = world_.snapshot.hosts[candidate.host].offering;
    const Offering& o = world_.snapshot.offerings[offering];
    if (!obstacle(world_, demand, offering).empty()) return false;
    const std::uint64_t items =
        candidate.room.count(world_.needs[demand.need], waiting_[demand.need]);
    return !is_too_dear(o.price_per_hour, standalone_cost(demand.need, o.market, items),
                        world_.policy.pools[o.pool]);
  }
  /// `items` of the demand wait no longer.
  void assigned(const Demand& demand, std::uint64_t items) { waiting_[demand.need] -= items; }

 private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
  }

  /// The cost per hour of new hosts for `items` of the need and nothing else.
  double standalone_cost(std::uint32_t n, model::Market market, std::uint64_t items) {
    const auto [at, fresh] = standalone_.try_emplace({n, market, items});
    if (fresh) at->second = cheapest_new_hosts(world_, world_.needs[n], market, items);
    return at->second;
  }

  const World& world_;
  std::vector<std::uint64_t> waiting_;  ///< Items by need.
  std::map<std::tuple<std::uint32_t, model::Market, std::uint64_t>, double> standalone_;
};

/// Assigns the demand to hosts that the plan wakes already, at any price, and to others that are
/// worth their price if `wakes_more`.
void assign_all(World& world, WakeCost& cost, Demand& demand,
                std::vector<WakeCandidate>& candidates, bool wakes_more) {
  for (WakeCandidate& candidate : candidates) {
    if (demand.uncovered == 0) return;
    if (!has_room(world, demand, candidate)) continue;
    if (candidate.items == 0) {
      const HostView& host = world.snapshot.hosts[candidate.host];
      if (!wakes_more || host.offering >= world.snapshot.offerings.size() ||
          !world.budget.may_wake(host) || !cost.is_worth_it(demand, candidate))
        continue;
      world.budget.wake(host);
    }
    cost.assigned(demand, assign(world, demand, candidate));
  }
}

}  // namespace

std::vector<std::uint32_t> wakeable(const World& world) {
  std::vector<std::uint32_t> out;
  const auto& hosts = world.snapshot.hosts;
  for (const std::uint32_t h : world.hosts)
    if (hosts[h].can_wake && world.closed[h] == Closed::kNo && !hosts[h].kept &&
        !hosts[h].will_go() && !world.used[h] && hosts[h].pool < world.policy.pools.size() &&
        !world.bounds[hosts[h].pool].is_held)
      out.push_back(h);
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(hosts[a].price_per_hour, hosts[a].total.gpus) <
           std::tie(hosts[b].price_per_hour, hosts[b].total.gpus);
  });
  return out;
}

bool is_standby(const World& world, std::uint32_t h) {
  return world.snapshot.hosts[h].is_standby() && !world.used[h] && world.closed[h] == Closed::kNo;
}

std::vector<PoolHosts> count_hosts(const World& world) {
  std::vector<PoolHosts> out(world.policy.pools.size());
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (host.pool >= out.size()) continue;
    PoolHosts& hosts = out[host.pool];
    if (is_standby(world, h)) ++hosts.off;
    if (world.turns_off(h)) ++hosts.turning_off;
    const bool woken = host.phase == HostPhase::kStopped && world.used[h];
    if (!woken && !world.is_alive(h)) continue;
    ++hosts.alive;
    if (!world.used[h] && host.is_empty()) ++hosts.empty;
  }
  return out;
}

void wake(World& world, Plan& plan) {
  const auto& hosts = world.snapshot.hosts;
  std::vector<WakeCandidate> candidates;
  for (const std::uint32_t h : wakeable(world))
    candidates.push_back(
        {h,
         HostRoom::of_empty(hosts[h].total, world.cards_of(hosts[h]), hosts[h].attempts_left),
         {}});
  if (candidates.empty()) return;
  WakeCost cost(world);
  for (Demand& demand : world.demand) assign_all(world, cost, demand, candidates, true);
  // A demand that was not worth a host of its own can share one that a later demand woke.
  for (Demand& demand : world.demand) assign_all(world, cost, demand, candidates, false);
  for (WakeCandidate& candidate : candidates) {
    if (candidate.items == 0) continue;
    world.used[candidate.host] = true;
    const std::string noun =
        noun_of(world.demand[world.find(candidate.load.front().cls)].view->kind);
    plan.wakes.push_back({hosts[candidate.host].id, std::move(candidate.load),
                          std::to_string(candidate.items) + " waiting " + noun +
                              (candidate.items == 1 ? " needs it" : "s need it"),
                          candidate.displaced});
  }
}

}  // namespace hostler::scheduler
