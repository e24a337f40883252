#include "core/scheduler/agents.h"

#include <algorithm>

namespace hostler::scheduler {

using model::Reason;

WithoutAgent without_agent(Mono created, std::optional<Mono> missing_since,
                           const model::PushedPolicy& pushed, Mono now) {
  const Mono started = created + pushed.starting;
  if (now < started) return {};
  return {AgentState::kLost, std::max(started, missing_since.value_or(started))};
}

bool is_awaited(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  const bool is_missing = host.agent == AgentState::kLost || host.agent == AgentState::kComing;
  return is_missing && host.was_listed && pool.pushed &&
         now - host.agent_since < pool.pushed->shrink_after;
}

bool is_idle_for_long(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  return host.agent == AgentState::kIdle && now - host.agent_since > pool.idle_timeout;
}

Reason goes_anyway(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  if (!pool.pushed || host.kept) return Reason::kNone;
  const model::PushedPolicy& pushed = *pool.pushed;
  if (host.agent == AgentState::kLost) {
    const Duration most =
        host.was_listed ? std::max(pushed.disconnected, pushed.shrink_after) : pushed.disconnected;
    return now - host.agent_since > most ? Reason::kDisconnected : Reason::kNone;
  }
  const bool is_there = host.agent == AgentState::kIdle || host.agent == AgentState::kBusy;
  const bool is_limited = pushed.lifetime_max > Duration::zero();
  return is_there && is_limited && now - host.created > pushed.lifetime_max ? Reason::kTooOld
                                                                            : Reason::kNone;
}

bool goes_by_push(Reason code, const HostView& host) {
  if (host.agent == AgentState::kNone) return false;
  switch (code) {
    case Reason::kInterrupted:
    case Reason::kUnreachable:
      return false;
    case Reason::kDrained:  // An admin may say so.
      return !host.draining;
    default:
      return true;
  }
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
