#include <algorithm>
#include <cmath>

#include "core/scheduler/fit.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

/// To judge one host: classes that would share it, classes looked at.
constexpr std::size_t kCompanyMax = 64, kLookedAtMax = 256;

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

/// What `items` of the demand would pay per hour on hosts of their own of that market: several to a
/// host of the cheapest that can be had now; one each, as the packer's limit has it, if none can.
double alone(const World& world, const Demand& demand, model::Market market, std::uint64_t items) {
  const Need& need = world.needs[demand.need];
  const std::int64_t cheapest = need.cheapest[market == model::Market::kSpot].value;
  if (cheapest < 0) return HUGE_VAL;  // there is nothing to compare with
  const double singly = static_cast<double>(cheapest) * static_cast<double>(items);
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (o.market != market || !o.shut.empty() || world.budget.creates(o, 1) == 0) continue;
    if (!need.resources.fits_in(o.resources) || !bars(world, demand, i).empty()) continue;
    std::uint64_t together = fit_count(need.resources, o.resources);
    const std::int32_t attempts = world.policy.pools[o.pool].attempts_parallel_max;
    if (attempts > 0) together = std::min(together, static_cast<std::uint64_t>(attempts));
    const double hosts = std::ceil(static_cast<double>(items) / static_cast<double>(together));
    return std::min(singly, static_cast<double>(o.price_per_hour.value) * hosts);
  }
  return singly;
}

/// Whether what would sit there, this demand first, would pay so much on hosts of its own.
bool is_worth_it(const World& world, const Demand& demand, Seat trial) {
  const HostView& host = world.snapshot.hosts[trial.host];
  const Offering& o = world.snapshot.offerings[host.offering];
  double otherwise = 0;
  std::size_t company = 0;
  const auto join = [&](Demand one) {
    if (!may_sit(world, one, trial) || !bars(world, one, host.offering).empty()) return;
    const std::uint64_t before = trial.items;
    sit(world, one, trial);
    otherwise += alone(world, one, o.market, trial.items - before);
    ++company;
  };
  join(demand);
  if (trial.items == 0) return false;
  const std::size_t looked_at = std::min(world.demand.size(), kLookedAtMax);
  for (std::size_t d = 0; d < looked_at && company < kCompanyMax; ++d)
    if (&world.demand[d] != &demand) join(world.demand[d]);
  return static_cast<double>(o.price_per_hour.value) <=
         otherwise * world.policy.pools[o.pool].price_factor_max;
}

/// Seats the demand on what is woken already, whatever that costs, and on more if `wakes_more`.
void sit_down(World& world, Demand& demand, std::vector<Seat>& seats, bool wakes_more) {
  for (Seat& seat : seats) {
    if (demand.uncovered == 0) return;
    if (!may_sit(world, demand, seat)) continue;
    if (seat.items == 0) {
      const HostView& host = world.snapshot.hosts[seat.host];
      if (!wakes_more || host.offering >= world.snapshot.offerings.size() ||
          !world.budget.may_wake(host) || !is_worth_it(world, demand, seat))
        continue;
      world.budget.wake(host);
    }
    sit(world, demand, seat);
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
  for (Demand& demand : world.demand) sit_down(world, demand, seats, true);
  // Some of these could not have a host woken that now is.
  for (Demand& demand : world.demand) sit_down(world, demand, seats, false);
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
