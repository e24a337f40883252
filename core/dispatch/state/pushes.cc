#include "core/dispatch/state/pushes.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"

namespace hostler::dispatch {

using scheduler::Bound;
using scheduler::BoundOf;

Silence PushedPool::silence_at(const model::PushedPolicy& policy, Mono now) const {
  if (policy.abandoned_after == Duration::zero()) return Silence::kNone;
  if (now >= heard + policy.abandoned_after) return Silence::kAbandoned;
  return now >= heard + policy.abandoned_after / 5 * 4 ? Silence::kLong : Silence::kNone;
}

Mono PushedPool::next_silence(const model::PushedPolicy& policy) const {
  if (policy.abandoned_after == Duration::zero() || silence == Silence::kAbandoned)
    return fleet::kNever;
  return silence == Silence::kNone ? heard + policy.abandoned_after / 5 * 4
                                   : heard + policy.abandoned_after;
}

std::vector<Bound> PushedPool::bounds(const model::PushedPolicy& policy) const {
  const auto both = [](std::optional<std::int64_t> max, const std::string& reason,
                       std::optional<Mono> until) {
    std::vector<Bound> out;
    for (const BoundOf of : {BoundOf::kStartedMin, BoundOf::kStartedMax}) {
      Bound bound{.of = of,
                  .source = scheduler::kPushedSource,
                  .number = std::nullopt,
                  .reason = reason,
                  .until = until};
      if (max) bound.number = of == BoundOf::kStartedMin ? 0 : *max;
      out.push_back(std::move(bound));
    }
    return out;
  };
  if (silence == Silence::kAbandoned)
    return both(0, "no push for " + format_duration(policy.abandoned_after), std::nullopt);
  if (!is_heard) return both(std::nullopt, "no push since the start", std::nullopt);
  return both(scheduler::kBoundMax,
              "the last push is younger than " + format_duration(policy.max_age),
              heard + policy.max_age);
}

PushedPool& Pushes::begin(std::uint32_t pool, pushed::Pusher pusher, std::uint64_t base, Mono now) {
  const auto [at, fresh] = pools_.try_emplace(pool, PushedPool{.pusher = std::move(pusher),
                                                               .handshake = pushed::Handshake(base),
                                                               .heard = now,
                                                               .last = {},
                                                               .demand = {},
                                                               .classes = {},
                                                               .unknown_agents = {},
                                                               .going = {}});
  HOSTLER_ASSERT(fresh, "a pool begins to be pushed once");
  return at->second;
}

PushedPool* Pushes::find(std::uint32_t pool) {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : &found->second;
}

const PushedPool* Pushes::find(std::uint32_t pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : &found->second;
}

void Pushes::erased(std::uint32_t pool, model::InstanceId id) {
  PushedPool* found = find(pool);
  if (found == nullptr) return;
  found->going.erase(id);
}

void Pushes::add_to(scheduler::HostView& view) const {
  const PushedPool* pool = view.agent == scheduler::AgentState::kNone ? nullptr : find(view.pool);
  if (pool == nullptr) return;
  view.is_going = pool->handshake.is_going(view.id);
  view.acknowledged = pool->handshake.is_acknowledged(view.id);
}

Mono Pushes::next_silence(const model::SitePolicy& policy) const {
  Mono out = fleet::kNever;
  for (const auto& [index, pool] : pools_)
    if (policy.pools[index].pushed)
      out = std::min(out, pool.next_silence(*policy.pools[index].pushed));
  return out;
}

std::string agent_name(const model::InstanceRecord& record, model::AgentName name) {
  switch (name) {
    case model::AgentName::kInstance:
      return record.id.text();
    case model::AgentName::kCloudId:
      return record.provider_id;
    case model::AgentName::kAddress:
      return record.address;
  }
  return {};
}

}  // namespace hostler::dispatch
