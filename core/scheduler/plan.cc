#include "core/scheduler/plan.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/scheduler/room.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

/// Hands out room: highest priority first, first come first served within it; what does not fit
/// lets the next go. `left` is the count that goes down; `put` hears where items went.
template <class Put>
void fill(World& world, Room& room, std::uint64_t Demand::*left, Put put) {
  using Turn = std::pair<std::uint64_t, std::uint32_t>;  // arrival, demand
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  const auto next = [&](std::uint32_t d) {
    const Demand& demand = world.demand[d];
    if (demand.*left > 0) turns.emplace(demand.arrival(demand.view->count - demand.*left), d);
  };
  for (std::uint32_t from = 0, to = 0; from < world.demand.size(); from = to) {
    const std::int32_t priority = world.demand[from].view->shape.priority;
    for (; to < world.demand.size() && world.demand[to].view->shape.priority == priority; ++to)
      next(to);
    while (!turns.empty()) {
      const std::uint32_t d = turns.top().second;
      turns.pop();
      Demand& demand = world.demand[d];
      const std::uint32_t host = room.find(demand.need);
      if (host == kNone) continue;
      std::uint64_t run = demand.*left;
      if (!turns.empty()) {
        const std::uint64_t first = demand.view->count - demand.*left;
        for (run = 1; run < demand.*left && demand.arrival(first + run) < turns.top().first;) ++run;
      }
      const std::uint64_t taken = room.take(host, demand.need, run);
      demand.*left -= taken;
      put(d, host, taken);
      next(d);
    }
  }
}

bool starves(const World& world, const Demand& demand, const HostView& host) {
  const auto* pool = world.pool(host);
  return pool != nullptr && demand.left > 0 && demand.placed == 0 &&
         world.snapshot.now - demand.view->oldest >= pool->starvation_after;
}

/// The host may one day hold an item of the class, once what is on it has ended.
bool may_hold(const World& world, const Demand& demand, std::uint32_t index) {
  const HostView& host = world.snapshot.hosts[index];
  const Need& need = world.needs[demand.need];
  // A coming host is counted on by what it was made for; that must not be driven off it.
  const bool for_it = std::any_of(host.load.begin(), host.load.end(),
                                  [&](const Load& load) { return load.cls == demand.view->id; });
  const bool usable = (host.phase == HostPhase::kReady && host.takes_work) ||
                      (host.phase == HostPhase::kComing && !host.draining && !host.kept &&
                       !host.unfulfilled_spot && for_it);
  return usable && need.resources.fits_in(host.total) && world.meets(need, host);
}

/// What an earlier plan reserved and is still needed: by host, the demand it is for.
std::vector<std::uint32_t> reservations(const World& world) {
  std::vector<std::uint32_t> reserved(world.snapshot.hosts.size(), kNone);
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (!host.reserved_for) continue;
    const std::uint32_t d = world.find(*host.reserved_for);
    if (d == kNone || !starves(world, world.demand[d], host) ||
        !may_hold(world, world.demand[d], h))
      continue;
    const bool twice = std::find(reserved.begin(), reserved.end(), d) != reserved.end();
    if (!twice) reserved[h] = d;
  }
  return reserved;
}

/// How much must end on a host before the item fits, as a share of the host; coming ones last.
double missing_share(const Need& need, const HostView& host) {
  const auto share = [](auto want, auto free, auto total) {
    return want <= free ? 0.0 : static_cast<double>(want - free) / static_cast<double>(total);
  };
  const auto &n = need.resources, &f = host.free, &t = host.total;
  return share(n.vcpus, f.vcpus, t.vcpus) + share(n.gpus, f.gpus, t.gpus) +
         share(n.ram, f.ram, t.ram) + share(n.scratch, f.scratch, t.scratch) +
         (host.phase == HostPhase::kReady ? 0 : 100);
}

/// The oldest item of the highest priority that still waits gets a host of its own.
void reserve_one(World& world, std::vector<std::uint32_t>& reserved) {
  Duration shortest = Duration::max(), longest{};
  for (const auto& pool : world.policy.pools) {
    shortest = std::min(shortest, pool.starvation_after);
    longest = std::max(longest, pool.starvation_after);
  }
  std::vector<bool> in_vain(world.needs.size());
  for (std::uint32_t d = 0; d < world.demand.size(); ++d) {
    const Demand& demand = world.demand[d];
    if (demand.left == 0 || demand.placed > 0 || in_vain[demand.need] ||
        world.snapshot.now - demand.view->oldest < shortest)
      continue;
    std::uint32_t best = kNone;
    double best_share = 0;
    for (const std::uint32_t h : world.hosts) {
      const HostView& host = world.snapshot.hosts[h];
      if (!starves(world, demand, host) || !may_hold(world, demand, h)) continue;
      if (reserved[h] == d) return;
      if (reserved[h] != kNone) continue;
      const double share = missing_share(world.needs[demand.need], host);
      if (best == kNone || share < best_share) best = h, best_share = share;
    }
    if (best != kNone) {
      reserved[best] = d;
      return;
    }
    in_vain[demand.need] = world.snapshot.now - demand.view->oldest >= longest;
  }
}

/// No item needs less than this of any resource.
model::Resources least_need(const World& world) {
  model::Resources out{INT32_MAX, INT32_MAX, INT64_MAX, INT64_MAX};
  for (const Need& need : world.needs) {
    out.vcpus = std::min(out.vcpus, need.resources.vcpus);
    out.gpus = std::min(out.gpus, need.resources.gpus);
    out.ram = std::min(out.ram, need.resources.ram);
    out.scratch = std::min(out.scratch, need.resources.scratch);
  }
  return out;
}

}  // namespace

void place(World& world, Plan& plan) {
  const auto& hosts = world.snapshot.hosts;
  std::vector<std::uint32_t> last_place(world.demand.size(), kNone);
  const auto put = [&](std::uint32_t d, std::uint32_t host, std::uint64_t count) {
    world.used[host] = true;
    world.demand[d].placed += count;
    std::uint32_t& last = last_place[d];
    if (last != kNone && plan.places[last].host == hosts[host].id) {
      plan.places[last].count += static_cast<std::uint32_t>(count);
      return;
    }
    last = static_cast<std::uint32_t>(plan.places.size());
    plan.places.push_back(
        {hosts[host].id, world.demand[d].view->id, static_cast<std::uint32_t>(count)});
  };

  std::vector<std::uint32_t> reserved = reservations(world);
  struct Seat {
    std::uint32_t host;
    model::Resources free;
    std::int32_t attempts_left;
  };
  std::vector<Seat> with_room;
  const model::Resources least = least_need(world);
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = hosts[h];
    if (host.phase != HostPhase::kReady || !host.takes_work || host.attempts_left <= 0) continue;
    Seat seat{h, host.free, host.attempts_left};
    if (reserved[h] != kNone) {
      Demand& demand = world.demand[reserved[h]];
      const auto& wants = world.needs[demand.need].resources;
      if (!wants.fits_in(host.free)) continue;
      --demand.left;
      put(reserved[h], h, 1);
      reserved[h] = kNone;
      seat.free -= wants;
      --seat.attempts_left;
    }
    if (least.fits_in(seat.free)) with_room.push_back(seat);
  }
  if (!world.demand.empty() && !with_room.empty()) {
    // Equal vcpus: the tighter host first; equals end in ids.
    std::stable_sort(with_room.begin(), with_room.end(), [](const Seat& a, const Seat& b) {
      return std::tie(a.free.ram, a.free.scratch) < std::tie(b.free.ram, b.free.scratch);
    });
    Room room(world);
    for (const Seat& seat : with_room)
      room.add(seat.host, seat.free, seat.attempts_left,
               !hosts[seat.host].busy && !world.used[seat.host]);
    fill(world, room, &Demand::left, put);
  }
  for (Demand& demand : world.demand) demand.uncovered = demand.left;
  reserve_one(world, reserved);
  for (const std::uint32_t h : world.hosts) {
    if (reserved[h] == kNone) continue;
    plan.reservations.push_back({hosts[h].id, world.demand[reserved[h]].view->id});
    world.used[h] = true;
  }
}

void cover(World& world) {
  const auto& hosts = world.snapshot.hosts;
  std::vector<std::uint32_t> coming;
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = hosts[h];
    if (host.phase == HostPhase::kComing && !host.draining && !host.kept) coming.push_back(h);
  }
  if (coming.empty() || world.demand.empty()) return;
  // Oldest first, fulfilled before unfulfilled: what ends up unused is the youngest.
  std::stable_sort(coming.begin(), coming.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(hosts[a].unfulfilled_spot, hosts[a].created) <
           std::tie(hosts[b].unfulfilled_spot, hosts[b].created);
  });
  Room room(world);
  for (const std::uint32_t h : coming) {
    model::Resources free = hosts[h].free;
    std::int32_t attempts_left = hosts[h].attempts_left;
    for (const Load& load : hosts[h].load) {
      const std::uint32_t d = world.find(load.cls);
      if (d == kNone) continue;
      Demand& demand = world.demand[d];
      if (world.given_up(world.needs[demand.need], h)) continue;
      const auto& wants = world.needs[demand.need].resources;
      for (std::uint32_t i = 0;
           i < load.count && demand.uncovered > 0 && attempts_left > 0 && wants.fits_in(free);
           ++i) {
        free -= wants;
        --attempts_left;
        --demand.uncovered;
        world.used[h] = true;
      }
    }
    room.add(h, free, attempts_left, !world.used[h]);
  }
  fill(world, room, &Demand::uncovered,
       [&](std::uint32_t, std::uint32_t host, std::uint64_t) { world.used[host] = true; });
}

Plan make_plan(const Snapshot& snapshot, const model::SitePolicy& policy) {
  World world(snapshot, policy);
  Plan plan;
  place(world, plan);
  cover(world);
  wake(world, plan);
  grow(world, plan);
  shrink(world, plan);
  explain(world, plan);
  return plan;
}

}  // namespace hostler::scheduler
