#include <algorithm>

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
void sit(World& world, Demand& demand, Seat& seat) {
  const auto& wants = world.needs[demand.need].resources;
  std::uint32_t count = 0;
  while (demand.uncovered > 0 && seat.attempts_left > 0 && wants.fits_in(seat.free)) {
    seat.free -= wants;
    --seat.attempts_left;
    --demand.uncovered;
    ++count;
  }
  if (count == 0) return;
  seat.load.push_back({demand.view->id, count});
  seat.items += count;
}

bool may_wake_for(const World& world, const Demand& demand, const HostView& host) {
  return host.offering < world.snapshot.offerings.size() && world.budget.may_wake(host) &&
         refuses(world, demand, host.offering).empty();
}

/// Seats the demand on what is woken already, whatever that costs, and on more if `wakes_more`.
void sit_down(World& world, Demand& demand, std::vector<Seat>& seats, bool wakes_more) {
  const Need& need = world.needs[demand.need];
  for (Seat& seat : seats) {
    if (demand.uncovered == 0) return;
    const HostView& host = world.snapshot.hosts[seat.host];
    if (!need.resources.fits_in(seat.free) || !world.meets(need, host)) continue;
    if (seat.items == 0) {
      if (!wakes_more || !may_wake_for(world, demand, host)) continue;
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
