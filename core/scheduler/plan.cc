#include "core/scheduler/plan.h"

#include <algorithm>

#include "core/scheduler/exchange.h"
#include "core/scheduler/give_way.h"
#include "core/scheduler/price_limits.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {

Plan make_plan(const Snapshot& snapshot, const model::SitePolicy& policy) {
  World world(snapshot, policy);
  Plan plan;
  place(world, plan);
  gather(world, plan);
  cover(world, plan, /*unseen=*/false);
  wake(world, plan);
  grow(world, plan);
  cover(world, plan, /*unseen=*/true);
  give_way(world);
  exchange(world, plan);
  keep_price_limits(world, plan);
  shrink(world, plan);
  explain(world, plan);
  const auto is_closed = [](Closed closed) { return closed != Closed::kNo; };
  if (std::ranges::none_of(world.closed, is_closed)) return plan;
  for (const std::uint32_t h : world.hosts)
    if (is_closed(world.closed[h])) plan.closed.push_back({snapshot.hosts[h].id, world.closed[h]});
  return plan;
}

}  // namespace hostler::scheduler
