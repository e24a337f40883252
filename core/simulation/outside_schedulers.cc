#include "core/simulation/outside_schedulers.h"

#include <algorithm>
#include <utility>

namespace hostler::simulation {
namespace {

/// The most slots that a type of the pool has.
std::int32_t widest_of(const model::PoolPolicy& pool, const model::SitePolicy& policy) {
  std::int32_t widest = 0;
  for (const model::InstanceType& type : policy.types)
    if (std::ranges::find(pool.types, type.name) != pool.types.end())
      widest = std::max(widest, type.resources.slots);
  return widest;
}

}  // namespace

Result<std::vector<Load>> OutsideSchedulers::open(const Scenario& scenario) {
  std::vector<Load> out;
  for (const PushedLoad& scheduler : scenario.pushed) {
    Scenario tasks;
    tasks.seed = scenario.seed * 7919 + out.size() + 1;
    tasks.lasts = scenario.lasts;
    tasks.arrivals = scheduler.tasks;
    out.push_back(HOSTLER_TRY(Load::open(tasks)));
  }
  return out;
}

OutsideSchedulers::OutsideSchedulers(Timeline& time, const Scenario& scenario,
                                     const model::SitePolicy& policy, std::vector<Load> loads,
                                     const OutsideScheduler::Outside& outside) {
  for (const PushedLoad& scheduler : scenario.pushed) {
    const auto pool = std::ranges::find(policy.pools, scheduler.pool, &model::PoolPolicy::name);
    const std::size_t number = schedulers_.size();
    schedulers_.push_back(std::make_unique<OutsideScheduler>(
        time, scheduler, *pool, Agents(widest_of(*pool, policy), pool->pushed->aux_per_agent),
        std::move(loads[number]), number, count_, outside));
  }
}

void OutsideSchedulers::begin() {
  for (auto& one : schedulers_) one->begin();
}

void OutsideSchedulers::hear(const dispatch::PushReply& answer) {
  for (auto& one : schedulers_)
    if (one->hear(answer)) return;
}

void OutsideSchedulers::lost(model::InstanceId host) {
  for (auto& one : schedulers_) one->lost(host);
}

std::optional<Error> OutsideSchedulers::problem() const {
  for (const auto& one : schedulers_)
    if (one->problem()) return one->problem();
  return std::nullopt;
}

TaskFigures OutsideSchedulers::complete(Duration lasted) {
  for (auto& one : schedulers_) one->end(lasted);
  return count_.complete();
}

}  // namespace hostler::simulation
