#include <algorithm>
#include <set>
#include <utility>

#include "core/dispatch/dispatcher.h"
#include "core/scheduler/fit.h"

/// Why a pool and a gate are as they are: what waits for them, and what came of their offerings.
namespace hostler::dispatch {
namespace {

constexpr std::size_t kDecisionsKept = 50, kDemandShown = 64, kRejectedShown = 64;

}  // namespace

void Dispatcher::decided(std::uint32_t pool) {
  auto& kept = decisions_[pool];
  kept.push_back(std::get<model::LedgerRecord>(out_.changes.back()));
  if (kept.size() > kDecisionsKept) kept.pop_front();
}

model::DemandView Dispatcher::demand_view(scheduler::ClassId cls) const {
  const auto& klass = queue_.at(cls);
  model::DemandView out{.jobs = klass.count, .needs = klass.shape.needs, .waiting = {}};
  const auto first = std::ranges::find_if(
      klass.items, [](const scheduler::Queue::Item& item) { return static_cast<bool>(item.work); });
  if (first != klass.items.end()) out.waiting = waiting(first->work).value_or(model::WaitingView{});
  return out;
}

std::string Dispatcher::ceiling_of(std::uint32_t pool, Mono now) const {
  const auto& policy = policy_.pools[pool];
  std::int32_t there = 0, standby = 0;
  for (const auto& seen : views_) {  // Counted as the planner does.
    if (seen.pool != pool || seen.phase == scheduler::HostPhase::kLeaving) continue;
    const bool off = seen.phase == scheduler::HostPhase::kStopped;
    ++(off && standby < policy.stopped ? standby : there);
  }
  if (there >= policy.max)
    return "pool " + policy.name + " has " + std::to_string(there) + " instances, max is " +
           std::to_string(policy.max);
  // Prices and sets differ: where one may be had nothing stands in the way, else the cheapest
  // tells.
  const scheduler::Offering* cheapest = nullptr;
  std::string ceiling;
  for (const auto& offering : offerings_) {
    if (offering.pool != pool) continue;
    auto no = governor_.refuses_create(offering.set, pool, offering.price_per_hour, now);
    if (no.empty()) return "";
    if (cheapest != nullptr && !scheduler::cheaper(offering, *cheapest, policy_)) continue;
    cheapest = &offering;
    ceiling = std::move(no);
  }
  return ceiling;
}

std::optional<model::ReasonsView> Dispatcher::reasons_of_pool(const std::string& name,
                                                              Mono now) const {
  const auto found = std::ranges::find(policy_.pools, name, &model::PoolPolicy::name);
  if (found == policy_.pools.end()) return std::nullopt;
  const auto pool = static_cast<std::uint32_t>(found - policy_.pools.begin());
  model::ReasonsView out;
  out.ceiling = ceiling_of(pool, now);
  if (const auto kept = decisions_.find(pool); kept != decisions_.end())
    out.decisions.assign(kept->second.begin(), kept->second.end());
  std::set<std::pair<std::uint32_t, std::string>> told;
  for (const auto& order : queue_.order()) {
    const auto& shape = queue_.at(order.cls).shape;
    const bool may_serve = std::ranges::any_of(offerings_, [&](const scheduler::Offering& o) {
      return o.pool == pool && shape.needs.fits_in(o.resources) &&
             scheduler::meets(shape.constraints, policy_.types[o.type].name, o.zone, o.market);
    });
    if (!may_serve) continue;
    if (out.demand.size() < kDemandShown) out.demand.push_back(demand_view(order.cls));
    const auto list = rejected_.find(order.cls);
    if (list == rejected_.end()) continue;
    for (const auto& [cls, index, reason] : list->second)
      if (index < offerings_.size() && offerings_[index].pool == pool &&
          out.rejected.size() < kRejectedShown && told.emplace(index, reason).second)
        out.rejected.push_back(rejected_view(offerings_[index], reason));
  }
  return out;
}

std::optional<model::ReasonsView> Dispatcher::reasons_of_gate(const std::string& key,
                                                              Mono now) const {
  const auto found = gates_.all().find(key);
  if (found == gates_.all().end() || !found->second.is_shut(now)) return std::nullopt;
  const auto& gate = found->second.record;
  model::ReasonsView out;
  std::set<std::pair<std::uint32_t, std::string>> held;  ///< As plans say why they pass it over.
  for (std::uint32_t i = 0; i < offerings_.size(); ++i) {
    const auto query = gate_query(offerings_[i]);
    if (!scheduler::holds(gate, query)) continue;
    if (out.rejected.size() < kRejectedShown)
      out.rejected.push_back(rejected_view(offerings_[i], gate.message));
    if (const auto* shut = gates_.shut(query, now)) held.emplace(i, shut->record.message);
  }
  for (const auto& order : queue_.order()) {
    const auto list = rejected_.find(order.cls);
    if (list == rejected_.end() || out.demand.size() >= kDemandShown) continue;
    if (std::ranges::any_of(list->second, [&](const scheduler::Rejected& one) {
          return held.contains({one.offering, one.reason});
        }))
      out.demand.push_back(demand_view(order.cls));
  }
  return out;
}

}  // namespace hostler::dispatch
