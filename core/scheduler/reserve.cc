#include "core/scheduler/reserve.h"

#include <algorithm>

namespace hostler::scheduler {
namespace {

bool starves(const World& world, const Demand& demand, const HostView& host) {
  return demand.left > 0 && demand.placed == 0 && world.starves(demand, host);
}

/// The host could hold an item of the class if nothing else ran on it.
bool may_hold(const World& world, const Demand& demand, std::uint32_t index) {
  const HostView& host = world.snapshot.hosts[index];
  const Need& need = world.needs[demand.need];
  // Other items are counted on a host that comes, if it was created for them: leave it to them.
  const bool for_it =
      std::any_of(host.load.begin(), host.load.end(),
                  [&](const demand::Load& load) { return load.cls == demand.view->id; });
  const bool usable =
      (host.phase == HostPhase::kReady && host.takes_work && host.drain == DrainPhase::kNone) ||
      (host.phase == HostPhase::kComing && !host.will_go() && !host.kept &&
       !host.unfulfilled_spot && for_it);
  return usable && !world.was_held(index) && world.closed[index] == Closed::kNo &&
         need.resources.fits_in(host.total) && world.meets(need, host) &&
         world.affordable(demand, host, 1) > 0;
}

}  // namespace

std::vector<std::uint32_t> reservations(const World& world) {
  std::vector<std::uint32_t> reserved(world.snapshot.hosts.size(), kNone);
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (!host.reserved_for) continue;
    for (const auto& [cls, d] : world.find_all(*host.reserved_for)) {
      if (!starves(world, world.demand[d], host) || !may_hold(world, world.demand[d], h)) continue;
      const bool twice = std::find(reserved.begin(), reserved.end(), d) != reserved.end();
      if (!twice) {
        reserved[h] = d;
        break;
      }
    }
  }
  return reserved;
}

namespace {

/// The share of the host that must become free before the item fits; hosts that come sort last.
double missing_share(const Need& need, const HostView& host) {
  const auto share = [](auto want, auto free, auto total) {
    return want <= free ? 0.0 : static_cast<double>(want - free) / static_cast<double>(total);
  };
  const auto &n = need.exclusive ? host.total : need.resources, &f = host.free, &t = host.total;
  return share(n.vcpus.thousandths(), f.vcpus.thousandths(), t.vcpus.thousandths()) +
         share(n.gpus, f.gpus, t.gpus) + share(n.ram, f.ram, t.ram) +
         share(n.scratch, f.scratch, t.scratch) + share(n.slots, f.slots, t.slots) +
         (host.phase == HostPhase::kReady ? 0 : 100);
}

}  // namespace

void reserve_one(const World& world, std::vector<std::uint32_t>& reserved) {
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
    if (demand.price != kNone) continue;  // Other work of the need may go to dearer hosts.
    in_vain[demand.need] = world.snapshot.now - demand.view->oldest >= longest;
  }
}

}  // namespace hostler::scheduler
