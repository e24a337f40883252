#include <algorithm>
#include <set>
#include <utility>

#include "core/dispatch/queries.h"
#include "core/dispatch/queries/conditions.h"
#include "core/dispatch/queries/pool_views.h"
#include "core/dispatch/state/live_work.h"
#include "core/dispatch/state/state.h"
#include "core/scheduler/budget.h"
#include "core/scheduler/fit.h"

/// Why work waits, and why a pool and a gate are as they are.
namespace hostler::dispatch {
namespace {

constexpr std::size_t kDemandShown = 64, kRejectedShown = 64;
/// The first in turn are looked at: the loop serves nobody else meanwhile.
constexpr std::size_t kClassesSeen = 1000;

std::vector<demand::ClassId> first_classes(const demand::Queue& queue) {
  std::vector<demand::ClassId> out;
  for (const auto& order : queue.order()) {
    if (out.size() == kClassesSeen) break;
    out.push_back(order.cls);
  }
  return out;
}

bool may_serve(const State& state, std::uint32_t pool, const demand::Queue::Class& work) {
  return std::ranges::any_of(state.menu.offerings(), [&](const scheduler::Offering& offering) {
    return offering.pool == pool && scheduler::fits(work.shape, work.kind, offering, state.policy);
  });
}

void add_tasks(const PlanState& plan, const PushedPool& pushed, model::ReasonsView& out) {
  for (std::size_t i = 0; i < pushed.classes.size() && out.demand.size() < kDemandShown; ++i) {
    const auto& asked = pushed.demand.classes[i];
    out.demand.push_back({.tasks = asked.count,
                          .needs = asked.shape.needs,
                          .gpu = {},
                          .waiting = plan.waiting_of_rest(pushed.classes[i])});
  }
}

}  // namespace

model::RejectedView Queries::rejected_view(const scheduler::Offering& offering,
                                           std::string reason) const {
  const auto& policy = state_.policy;
  return {policy.types[offering.type].name, offering.zone, model::to_string(offering.market),
          policy.pools[offering.pool].name, std::move(reason)};
}

std::vector<model::RejectedView> Queries::rejected(model::WorkId id) const {
  std::vector<model::RejectedView> out;
  const auto work = find(id);
  if (!work) return out;
  const auto& offerings = state_.menu.offerings();
  for (const auto& one : state_.plan.rejected(work->place.cls))
    if (one.offering < offerings.size())
      out.push_back(rejected_view(offerings[one.offering], one.reason));
  return out;
}

void Queries::add_demand(const std::vector<demand::ClassId>& classes,
                         model::ReasonsView& out) const {
  const auto& queue = state_.waiting.queue();
  std::vector<model::WorkId> next;
  for (const auto cls : classes) {
    if (next.size() == kDemandShown) break;
    next.push_back(queue.next_item(cls).work);
  }
  auto reasons = waiting(next);  // Of all at once: it scans the queue.
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto& klass = queue.at(classes[i]);
    out.demand.push_back({.jobs = klass.count,
                          .needs = klass.shape.needs,
                          .gpu = klass.shape.constraints.gpu,
                          .waiting = std::move(reasons[next[i]])});
  }
  out.shapes_not_examined = queue.order().size() - std::min(queue.order().size(), kClassesSeen);
}

/// Why the pool cannot have one more instance; empty: it can.
std::string Queries::ceiling_of(std::uint32_t pool, Mono now) const {
  const std::string name = "pool " + state_.policy.pools[pool].name;
  const auto all = this->bounds();
  const auto set_aside = state_.set_aside.count_pools(state_.policy);
  const auto [started, created] =
      scheduler::hosts_of_max(state_.hosts.views(), all, set_aside)[pool];
  const scheduler::PoolNumbers& bounds = all[pool];
  if (started >= bounds.started.max.value)
    return name + " has " + std::to_string(started) + " instances, max is " +
           bounds.started.max.text();
  if (created >= bounds.created.max.value)
    return name + " has " + std::to_string(created) + " instances with switched-off ones, max is " +
           bounds.created.max.text();
  // Prices and sets differ: one offering that can be had is enough, else the cheapest explains.
  const scheduler::Offering* cheapest = nullptr;
  std::string ceiling;
  for (const auto& offering : state_.menu.offerings()) {
    if (offering.pool != pool) continue;
    auto refusal = state_.governor.refuses_create(offering.set, pool, offering.price_per_hour, now);
    if (refusal.empty()) return "";
    if (cheapest != nullptr && !scheduler::cheaper(offering, *cheapest, state_.policy)) continue;
    cheapest = &offering;
    ceiling = std::move(refusal);
  }
  return ceiling;
}

std::optional<model::ReasonsView> Queries::reasons_of_pool(const std::string& name, Now now) const {
  const auto& pools = state_.policy.pools;
  const auto found = std::ranges::find(pools, name, &model::PoolPolicy::name);
  if (found == pools.end()) return std::nullopt;
  const auto pool = static_cast<std::uint32_t>(found - pools.begin());
  const auto& offerings = state_.menu.offerings();
  model::ReasonsView out;
  out.ceiling = ceiling_of(pool, now.mono);
  if (!out.ceiling.empty()) out.ceiling += vanished_that_count(state_);
  out.metrics = metrics_of(state_, pool, now);
  out.decisions = state_.plan.decisions(pool);
  std::set<std::pair<std::uint32_t, std::string>> shown;
  auto served = first_classes(state_.waiting.queue());
  std::erase_if(served, [&](demand::ClassId cls) {
    return !may_serve(state_, pool, state_.waiting.queue().at(cls));
  });
  add_demand(served, out);
  if (const PushedPool* pushed = state_.pushes.find(pool)) {
    add_tasks(state_.plan, *pushed, out);
    served.insert(served.end(), pushed->classes.begin(), pushed->classes.end());
  }
  for (const auto seen : served)
    for (const auto& [cls, index, reason] : state_.plan.rejected(seen))
      if (index < offerings.size() && offerings[index].pool == pool &&
          out.rejected.size() < kRejectedShown && shown.emplace(index, reason).second)
        out.rejected.push_back(rejected_view(offerings[index], reason));
  return out;
}

std::optional<model::ReasonsView> Queries::reasons_of_gate(const std::string& key, Mono now) const {
  const auto found = state_.gates.all().find(key);
  if (found == state_.gates.all().end() || !found->second.is_shut(now)) return std::nullopt;
  const auto& gate = found->second.record;
  const auto& offerings = state_.menu.offerings();
  model::ReasonsView out;
  // Offerings within the gate's scope, with the reason by which plans reject them.
  std::set<std::pair<std::uint32_t, std::string>> held;
  for (std::uint32_t i = 0; i < offerings.size(); ++i) {
    const auto query = state_.gates.create_query(offerings[i]);
    if (!gates::holds(gate, query)) continue;
    if (out.rejected.size() < kRejectedShown)
      out.rejected.push_back(rejected_view(offerings[i], gate.message));
    if (const auto* shut = state_.gates.shut(query, now)) held.emplace(i, shut->record.message);
  }
  auto classes = first_classes(state_.waiting.queue());
  std::erase_if(classes, [&](demand::ClassId cls) {
    return std::ranges::none_of(state_.plan.rejected(cls), [&](const scheduler::Rejected& one) {
      return held.contains({one.offering, one.reason});
    });
  });
  add_demand(classes, out);
  return out;
}

}  // namespace hostler::dispatch
