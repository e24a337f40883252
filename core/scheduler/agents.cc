#include "core/scheduler/agents.h"

#include <algorithm>

#include "core/base/units.h"

namespace hostler::scheduler {

using model::Reason;

WithoutAgent without_agent(Mono created, std::optional<Mono> missing_since,
                           const model::PushedPolicy& pushed, Mono now) {
  const Mono started = created + pushed.starting;
  if (now < started) return {};
  return {AgentState::kLost, std::max(started, missing_since.value_or(started))};
}

std::vector<Bound> bounds_of_push(Mono pushed_at, const model::PushedPolicy& pushed, Mono now) {
  using enum BoundOf;
  const Duration age = now - pushed_at;
  const bool may_abandon = pushed.abandoned_after > Duration::zero();
  const std::optional<Mono> abandoned =
      may_abandon ? std::optional(pushed_at + pushed.abandoned_after) : std::nullopt;
  const auto say = [](std::optional<std::int64_t> min, std::optional<std::int64_t> max,
                      const std::string& reason, std::optional<Mono> until) {
    return std::vector<Bound>{{kStartedMin, kPushedSource, min, reason, until},
                              {kStartedMax, kPushedSource, max, reason, until}};
  };
  if (abandoned && now >= *abandoned)
    return say(0, 0, "no push for " + format_duration(age), std::nullopt);
  if (age >= pushed.max_age)
    return say({}, {}, "the last push is " + format_duration(age) + " old", abandoned);
  return say(0, kBoundMax, "a push counts for " + format_duration(pushed.max_age),
             pushed_at + pushed.max_age);
}

bool is_awaited(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  const bool is_missing = host.agent == AgentState::kLost || host.agent == AgentState::kComing;
  return is_missing && host.was_listed && pool.pushed &&
         now - host.agent_since < pool.pushed->shrink_after;
}

bool is_idle_for_long(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  return host.agent == AgentState::kIdle && now - host.agent_since > pool.idle_timeout;
}

namespace {

bool is_listed(const HostView& host) {
  return host.agent == AgentState::kIdle || host.agent == AgentState::kBusy;
}

}  // namespace

Reason goes_anyway(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  if (!pool.pushed || host.kept) return Reason::kNone;
  const model::PushedPolicy& pushed = *pool.pushed;
  if (host.agent == AgentState::kLost) {
    const Duration most =
        host.was_listed ? std::max(pushed.disconnected, pushed.shrink_after) : pushed.disconnected;
    return now - host.agent_since > most ? Reason::kDisconnected : Reason::kNone;
  }
  const bool is_limited = pushed.lifetime_max > Duration::zero();
  return is_listed(host) && is_limited && now - host.created > pushed.lifetime_max ? Reason::kTooOld
                                                                                   : Reason::kNone;
}

bool goes_by_push(Reason code, const HostView& host) {
  if (host.agent == AgentState::kNone) return false;
  // A host that its scheduler has had is not lost, whatever is seen of it from here: that its agent
  // is missing may be a mistake.
  const bool is_lost = code == Reason::kUnreachable && !host.was_listed;
  return code != Reason::kInterrupted && !is_lost;
}

bool needs_handshake(Reason code, const HostView& host, Closed closed) {
  return goes_by_push(code, host) && code != Reason::kDisconnected && !host.unfulfilled_spot &&
         closed != Closed::kAbandoned;
}

int order_of_going(const HostView& host) {
  if (host.acknowledged) return 0;
  return host.is_going ? 1 : 2;
}

}  // namespace hostler::scheduler
