#include <algorithm>
#include <cmath>

#include "core/dispatch/queries.h"
#include "core/dispatch/state/live_work.h"
#include "core/dispatch/state/state.h"

/// Who has used how much of the site lately, and whose turn is before whose.
namespace hostler::dispatch {
namespace {

model::Micros rounded(double micros) {
  return {static_cast<std::int64_t>(std::round(std::clamp(micros, 0.0, 9e18)))};
}

double part_of(double use, double total) { return total > 0 ? std::min(use / total, 1.0) : 0; }

double total_use(const Principals& all, Mono now) {
  double out = 0;
  for (demand::PrincipalId p = 0; p < all.names().size(); ++p) out += all.shares().use(p, now);
  return out;
}

}  // namespace

model::SharesView Queries::shares(Mono now) const {
  const Principals& all = state_.principals;
  const double total = total_use(all, now);
  model::SharesView out{
      .half_life = all.shares().half_life(), .use = rounded(total), .principals = {}};
  std::vector<std::pair<double, demand::PrincipalId>> order;
  for (demand::PrincipalId p = 0; p < all.names().size(); ++p)
    order.emplace_back(all.shares().key(p), p);
  std::ranges::sort(order);
  for (const auto& [key, p] : order) {
    const double use = all.shares().use(p, now);
    const auto held = all.shares().held(p);
    const std::size_t waiting = state_.waiting.queue().count(p);
    if (use < 0.5 && held.attempts == 0 && waiting == 0) continue;
    const model::Quota quota = state_.policy.quotas.of(all.names()[p]);
    out.principals.push_back({.principal = all.names()[p],
                              .use = rounded(use),
                              .part = part_of(use, total),
                              .price_per_hour = held.price_per_hour,
                              .vcpus = held.vcpus,
                              .gpus = held.gpus,
                              .running = held.attempts,
                              .waiting = waiting,
                              .vcpus_max = quota.running_vcpus_max,
                              .gpus_max = quota.running_gpus_max,
                              .price_per_hour_max = quota.running_price_per_hour_max});
  }
  return out;
}

std::optional<model::TurnView> Queries::turn(model::WorkId id, Mono now) const {
  const Principals& all = state_.principals;
  const auto& queue = state_.waiting.queue();
  const auto work = find(id);
  if (!work || !work->queued) return std::nullopt;
  const auto who = work->place.principal;
  model::TurnView out{.principal = all.name(who),
                      .part = part_of(all.shares().use(who, now), total_use(all, now)),
                      .priority = queue.at(work->place.cls).shape.priority};
  for (const auto& [key, principal] : queue.principals()) {
    if (key >= queue.key(who)) break;
    const auto& lanes = queue.lanes(principal);
    const auto first = lanes.from(out.priority);
    if (first != lanes.end() && first->first.priority == out.priority) ++out.before;
  }
  return out;
}

}  // namespace hostler::dispatch
