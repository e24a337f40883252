#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/scheduler/fit.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

/// A switched-off host as a plan fills it.
struct Seat {
  std::uint32_t host = 0;
  model::Resources free;
  std::int64_t attempts_left = 0;
  std::vector<Load> load;
  std::uint64_t items = 0;
};

/// Puts what it can of the demand on the seat.
void sit(const World& world, Demand& demand, Seat& seat) {
  const auto& wants = world.needs[demand.need].resources;
  const auto attempts = static_cast<std::uint64_t>(std::max<std::int64_t>(0, seat.attempts_left));
  const std::uint64_t count = std::min({fit_count(wants, seat.free), demand.uncovered, attempts});
  if (count == 0) return;
  seat.free -= times(wants, count);
  seat.attempts_left -= static_cast<std::int64_t>(count);
  demand.uncovered -= count;
  seat.load.push_back({demand.view->id, static_cast<std::uint32_t>(count)});
  seat.items += count;
}

bool may_sit(const World& world, const Demand& demand, const Seat& seat) {
  const Need& need = world.needs[demand.need];
  return demand.uncovered > 0 && seat.attempts_left > 0 && need.resources.fits_in(seat.free) &&
         world.meets(need, world.snapshot.hosts[seat.host]);
}

/// Judges whether a host is worth to be woken. What it finds out holds for one plan.
class Judge {
 public:
  explicit Judge(const World& world) : world_(world), waiting_(world.needs.size()) {
    for (const Demand& demand : world.demand)
      waiting_[demand.need] = add(waiting_[demand.need], demand.uncovered);
  }

  /// The price factor, over what those alike that would sit there would pay on hosts of their own.
  /// Work of other needs does not count: what it would pay in the same company nobody knows.
  bool is_worth_it(const Demand& demand, const Seat& seat) {
    const Offering& o = world_.snapshot.offerings[world_.snapshot.hosts[seat.host].offering];
    if (!bars(world_, demand, world_.snapshot.hosts[seat.host].offering).empty()) return false;
    const std::uint64_t items =
        std::min({fit_count(world_.needs[demand.need].resources, seat.free), waiting_[demand.need],
                  static_cast<std::uint64_t>(seat.attempts_left)});
    return static_cast<double>(o.price_per_hour.value) <=
           alone(demand.need, o.market, items) * world_.policy.pools[o.pool].price_factor_max;
  }
  void sat_down(const Demand& demand, std::uint64_t items) { waiting_[demand.need] -= items; }

 private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
  }

  double alone(std::uint32_t n, model::Market market, std::uint64_t items) {
    const auto [at, fresh] = alone_.try_emplace({n, market, items});
    if (fresh) at->second = find(world_.needs[n], market, items);
    return at->second;
  }

  /// The least for `items` on hosts of one type that can be had now; one each of the cheapest, as
  /// the packer's limit has it, if none can.
  [[nodiscard]] double find(const Need& need, model::Market market, std::uint64_t items) const {
    const std::int64_t cheapest = need.cheapest[market == model::Market::kSpot].value;
    if (cheapest < 0) return HUGE_VAL;  // there is nothing to compare with
    double least = static_cast<double>(cheapest) * static_cast<double>(items);
    for (const std::uint32_t i : world_.offers) {
      const Offering& o = world_.snapshot.offerings[i];
      if (o.market != market || !o.shut.empty() || !need.resources.fits_in(o.resources)) continue;
      if (!world_.meets(need, i) || world_.pool_held[o.pool] || !within_cap(o, world_.policy) ||
          world_.budget.creates(o, 1) == 0)
        continue;
      std::uint64_t together = fit_count(need.resources, o.resources);
      const std::int32_t attempts = world_.policy.pools[o.pool].attempts_parallel_max;
      if (attempts > 0) together = std::min(together, static_cast<std::uint64_t>(attempts));
      const double hosts = std::ceil(static_cast<double>(items) / static_cast<double>(together));
      least = std::min(least, static_cast<double>(o.price_per_hour.value) * hosts);
    }
    return least;
  }

  const World& world_;
  std::vector<std::uint64_t> waiting_;  ///< By need.
  std::map<std::tuple<std::uint32_t, model::Market, std::uint64_t>, double> alone_;
};

/// Seats the demand on what is woken already, whatever that costs, and on more if `wakes_more`.
void sit_down(World& world, Judge& judge, Demand& demand, std::vector<Seat>& seats,
              bool wakes_more) {
  for (Seat& seat : seats) {
    if (demand.uncovered == 0) return;
    if (!may_sit(world, demand, seat)) continue;
    if (seat.items == 0) {
      const HostView& host = world.snapshot.hosts[seat.host];
      if (!wakes_more || host.offering >= world.snapshot.offerings.size() ||
          !world.budget.may_wake(host) || !judge.is_worth_it(demand, seat))
        continue;
      world.budget.wake(host);
    }
    const std::uint64_t before = demand.uncovered;
    sit(world, demand, seat);
    judge.sat_down(demand, before - demand.uncovered);
  }
}

}  // namespace

std::vector<std::uint32_t> wakeable(const World& world) {
  std::vector<std::uint32_t> out;
  const auto& hosts = world.snapshot.hosts;
  for (const std::uint32_t h : world.hosts)
    if (hosts[h].can_wake && !hosts[h].kept && !hosts[h].draining && !world.used[h] &&
        hosts[h].pool < world.policy.pools.size() && !world.pool_held[hosts[h].pool])
      out.push_back(h);
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return hosts[a].price_per_hour < hosts[b].price_per_hour;
  });
  return out;
}

bool is_standby(const World& world, std::uint32_t h) {
  return world.snapshot.hosts[h].is_standby() && !world.used[h];
}

void wake(World& world, Plan& plan) {
  const auto& hosts = world.snapshot.hosts;
  std::vector<Seat> seats;
  for (const std::uint32_t h : wakeable(world))
    seats.push_back({h, hosts[h].total, hosts[h].attempts_left, {}, 0});
  if (seats.empty()) return;
  Judge judge(world);
  for (Demand& demand : world.demand) sit_down(world, judge, demand, seats, true);
  // Some of these could not have a host woken that now is.
  for (Demand& demand : world.demand) sit_down(world, judge, demand, seats, false);
  for (Seat& seat : seats) {
    if (seat.items == 0) continue;
    world.used[seat.host] = true;
    plan.wakes.push_back(
        {hosts[seat.host].id, std::move(seat.load),
         std::to_string(seat.items) +
             (seat.items == 1 ? " waiting job needs it" : " waiting jobs need it")});
  }
}

}  // namespace hostler::scheduler
