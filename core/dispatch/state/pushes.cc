#include "core/dispatch/state/pushes.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/scheduler/agents.h"

namespace hostler::dispatch {

using scheduler::Bound;
using scheduler::BoundOf;

namespace {

/// How long a scheduler is silent in each degree; unset: it never comes to that.
std::optional<Duration> begin_of(Silence silence, const model::PushedPolicy& policy) {
  const bool may_abandon = policy.abandoned_after > Duration::zero();
  switch (silence) {
    case Silence::kNone:
      return Duration::zero();
    case Silence::kTooOld:
      return policy.max_age;
    case Silence::kLong:
      if (may_abandon) return policy.abandoned_after / 5 * 4;
      break;
    case Silence::kAbandoned:
      if (may_abandon) return policy.abandoned_after;
      break;
  }
  return std::nullopt;
}

constexpr auto kDegrees = {Silence::kTooOld, Silence::kLong, Silence::kAbandoned};

}  // namespace

Silence PushedPool::silence_at(const model::PushedPolicy& policy, Mono now) const {
  Silence out = Silence::kNone;
  for (const Silence degree : kDegrees)
    if (const auto after = begin_of(degree, policy); after && now >= heard + *after) out = degree;
  return out;
}

void PushedPool::times_changed(const model::PushedPolicy& policy, Mono now) {
  const Silence next = silence_at(policy, now);
  if (next == Silence::kAbandoned && silence < Silence::kAbandoned)
    heard = std::max(heard, now - std::max(policy.max_age, *begin_of(Silence::kLong, policy)));
  silence = std::min(silence, next);
}

Mono PushedPool::next_silence(const model::PushedPolicy& policy) const {
  Mono out = fleet::kNever;
  for (const Silence degree : kDegrees)
    if (const auto after = begin_of(degree, policy); after && degree > silence)
      out = std::min(out, heard + *after);
  return out;
}

std::vector<Bound> PushedPool::bounds(const model::PushedPolicy& policy, Mono now) const {
  if (is_heard || silence == Silence::kAbandoned)
    return scheduler::bounds_of_push(heard, policy, now);
  std::vector<Bound> out;
  for (const BoundOf of : {BoundOf::kStartedMin, BoundOf::kStartedMax})
    out.push_back({.of = of,
                   .source = scheduler::kPushedSource,
                   .number = std::nullopt,
                   .reason = "no push since the start",
                   .until = std::nullopt});
  return out;
}

PushedPool& Pushes::begin(std::uint32_t pool, pushed::Pusher pusher, std::uint64_t base, Mono now) {
  base = std::max(base, last_answer_);
  const auto [at, fresh] = pools_.try_emplace(pool, PushedPool{.pusher = std::move(pusher),
                                                               .handshake = pushed::Handshake(base),
                                                               .heard = now,
                                                               .last = {},
                                                               .demand = {},
                                                               .classes = {},
                                                               .unknown_agents = {},
                                                               .named = {},
                                                               .going = {}});
  HOSTLER_ASSERT(fresh, "a pool begins to be pushed once");
  return at->second;
}

bool Pushes::is_abandoned(std::uint32_t pool) const {
  const PushedPool* found = find(pool);
  return found != nullptr && found->silence == Silence::kAbandoned;
}

void Pushes::end(std::uint32_t pool) {
  const auto found = pools_.find(pool);
  last_answer_ = std::max(last_answer_, found->second.handshake.last());
  pools_.erase(found);
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
