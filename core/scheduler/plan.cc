#include "core/scheduler/plan.h"

#include "core/scheduler/steps.h"

namespace hostler::scheduler {

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
