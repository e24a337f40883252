#include <algorithm>
#include <map>

#include "core/scheduler/fit.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

std::int64_t fit_count(const model::Resources& needs, const model::Resources& room) {
  std::int64_t n = INT32_MAX;
  if (needs.vcpus > 0) n = std::min<std::int64_t>(n, room.vcpus / needs.vcpus);
  if (needs.gpus > 0) n = std::min<std::int64_t>(n, room.gpus / needs.gpus);
  if (needs.ram > 0) n = std::min(n, room.ram / needs.ram);
  if (needs.scratch > 0) n = std::min(n, room.scratch / needs.scratch);
  return n;
}

bool is_alive(const HostView& host) {
  return (host.phase == HostPhase::kComing || host.phase == HostPhase::kReady) && !host.failed &&
         !host.draining;
}

/// Instances that min and standby still lack.
std::int64_t lacking(const World& world, std::uint32_t p, const std::vector<std::int64_t>& made,
                     const std::vector<std::int64_t>& made_spare) {
  const auto& pool = world.policy.pools[p];
  std::int64_t alive = made[p], spare = made_spare[p];
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (host.pool != p || !is_alive(host)) continue;
    ++alive;
    if (!world.used[h] && !host.busy && !host.kept) ++spare;
  }
  return std::max<std::int64_t>({pool.min - alive, pool.standby - spare, 0});
}

}  // namespace

void grow(World& world, Plan& plan) {
  const auto& offerings = world.snapshot.offerings;
  std::vector<std::int64_t> made(world.policy.pools.size()), spare(made);
  const auto create = [&](std::uint32_t o, std::optional<ClassId> cls, std::vector<Load> load,
                          std::string reason) {
    world.budget.create(offerings[o], 1);
    ++made[offerings[o].pool];
    if (load.empty()) ++spare[offerings[o].pool];
    plan.creates.push_back(
        {.offering = o, .for_class = cls, .load = std::move(load), .reason = std::move(reason)});
  };
  for (Demand& demand : world.demand) {
    for (const std::uint32_t o : world.offers) {
      if (demand.uncovered == 0) break;
      const Offering& offering = offerings[o];
      if (!offering.shut.empty() || !allows(world, demand, o)) continue;
      std::int64_t per = fit_count(world.needs[demand.need].resources, offering.resources);
      const std::int32_t most = world.policy.pools[offering.pool].attempts_parallel_max;
      if (most > 0) per = std::min<std::int64_t>(per, most);
      while (demand.uncovered > 0 && world.budget.creates(offering, 1) > 0) {
        const auto count =
            std::min<std::uint64_t>(demand.uncovered, static_cast<std::uint64_t>(per));
        demand.uncovered -= count;
        create(o, demand.view->id, {{demand.view->id, static_cast<std::uint32_t>(count)}},
               std::to_string(count) + " waiting jobs need it");
      }
    }
  }
  for (std::uint32_t p = 0; p < world.policy.pools.size(); ++p) {
    if (world.pool_held[p]) continue;
    for (std::int64_t lack = lacking(world, p, made, spare); lack > 0;) {
      const auto o = std::find_if(world.offers.begin(), world.offers.end(), [&](std::uint32_t i) {
        return offerings[i].pool == p && offerings[i].shut.empty() &&
               world.budget.creates(offerings[i], 1) > 0;
      });
      if (o == world.offers.end()) break;
      create(*o, std::nullopt, {}, "minimum or standby of pool " + world.policy.pools[p].name);
      --lack;
    }
  }
}

}  // namespace hostler::scheduler
