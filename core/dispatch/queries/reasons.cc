#include <algorithm>
#include <set>
#include <utility>

#include "core/dispatch/queries.h"
#include "core/dispatch/queries/conditions.h"
#include "core/dispatch/state/state.h"
#include "core/scheduler/budget.h"
#include "core/scheduler/fit.h"

/// Why a job waits, and why a pool and a gate are as they are.
namespace hostler::dispatch {
namespace {

constexpr std::size_t kDemandShown = 64, kRejectedShown = 64;

}  // namespace

model::RejectedView Queries::rejected_view(const scheduler::Offering& offering,
                                           std::string reason) const {
  const auto& policy = state_.policy;
  return {policy.types[offering.type].name, offering.zone, model::to_string(offering.market),
          policy.pools[offering.pool].name, std::move(reason)};
}

std::vector<model::RejectedView> Queries::rejected(model::WorkId id) const {
  std::vector<model::RejectedView> out;
  const work::Job* job = state_.jobs.find(id);
  if (job == nullptr) return out;
  const auto& offerings = state_.menu.offerings();
  for (const auto& one : state_.plan.rejected(job->cls))
    if (one.offering < offerings.size())
      out.push_back(rejected_view(offerings[one.offering], one.reason));
  return out;
}

model::DemandView Queries::demand_view(demand::ClassId cls) const {
  const auto& klass = state_.waiting.queue().at(cls);
  model::DemandView out{.jobs = klass.count, .needs = klass.shape.needs, .waiting = {}};
  if (klass.count > 0)
    out.waiting =
        waiting(state_.waiting.queue().next_item(cls).work).value_or(model::WaitingView{});
  return out;
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

bool Queries::may_serve(std::uint32_t pool, const model::WorkShape& shape) const {
  return std::ranges::any_of(state_.menu.offerings(), [&](const scheduler::Offering& offering) {
    return offering.pool == pool && shape.needs.fits_in(offering.resources) &&
           scheduler::meets(shape.constraints, state_.policy.types[offering.type].name,
                            offering.zone, offering.market);
  });
}

std::optional<model::ReasonsView> Queries::reasons_of_pool(const std::string& name,
                                                           Mono now) const {
  const auto& pools = state_.policy.pools;
  const auto found = std::ranges::find(pools, name, &model::PoolPolicy::name);
  if (found == pools.end()) return std::nullopt;
  const auto pool = static_cast<std::uint32_t>(found - pools.begin());
  const auto& offerings = state_.menu.offerings();
  model::ReasonsView out;
  out.ceiling = ceiling_of(pool, now);
  if (!out.ceiling.empty()) out.ceiling += vanished_that_count(state_);
  out.decisions = state_.plan.decisions(pool);
  std::set<std::pair<std::uint32_t, std::string>> shown;
  for (const auto& order : state_.waiting.queue().order()) {
    if (!may_serve(pool, state_.waiting.queue().at(order.cls).shape)) continue;
    if (out.demand.size() < kDemandShown) out.demand.push_back(demand_view(order.cls));
    for (const auto& [cls, index, reason] : state_.plan.rejected(order.cls))
      if (index < offerings.size() && offerings[index].pool == pool &&
          out.rejected.size() < kRejectedShown && shown.emplace(index, reason).second)
        out.rejected.push_back(rejected_view(offerings[index], reason));
  }
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
  for (const auto& order : state_.waiting.queue().order()) {
    if (out.demand.size() >= kDemandShown) break;
    const auto& rejected = state_.plan.rejected(order.cls);
    if (std::ranges::any_of(rejected, [&](const scheduler::Rejected& one) {
          return held.contains({one.offering, one.reason});
        }))
      out.demand.push_back(demand_view(order.cls));
  }
  return out;
}

}  // namespace hostler::dispatch
