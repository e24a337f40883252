#include "core/scheduler/shutdown_rule.h"

#include "core/base/assert.h"
#include "core/scheduler/agents.h"
#include "core/scheduler/lifetime.h"

namespace hostler::scheduler {

bool still_true(model::Reason code, const HostView& host, Closed closed,
                const model::PoolPolicy& pool, Mono now) {
  using enum model::Reason;
  if (host.phase == HostPhase::kLingering || host.phase == HostPhase::kLeaving) return false;
  if (code == kUnreachable)
    return host.unreachable_since && now - *host.unreachable_since >= pool.probe_timeout &&
           host.agent != AgentState::kBusy;
  if (code == kBeyondMax && closed == Closed::kAbandoned) return true;
  if (host.busy || (goes_by_push(code, host) && is_awaited(host, pool, now))) return false;
  switch (code) {
    case kUnwantedSpot:
      return host.unfulfilled_spot;
    case kIdle:
      return host.phase == HostPhase::kReady && host.drain != DrainPhase::kUnderWay &&
             (host.agent == AgentState::kNone ? now - host.since >= pool.idle_timeout
                                              : is_idle_for_long(host, pool, now)) &&
             !is_young(host, pool, now);
    case kDisconnected:
    case kTooOld:
      return goes_anyway(host, pool, now) == code;
    case kDrained:
      return host.draining || host.drain == DrainPhase::kOver;
    case kInterrupted:
      return host.cordoned;
    case kBootingSurplus:
      return host.phase == HostPhase::kComing && !host.adopted;
    case kFailed:
      return host.phase == HostPhase::kStopped;
    case kStandbySurplus:
      return host.phase == HostPhase::kStopped && !is_young(host, pool, now);
    case kBeyondMax:
    case kOffMenu:
      return closed == Closed::kOffMenu ||
             (closed == Closed::kBeyondMax && !is_young(host, pool, now));
    case kGaveWay:
    case kExchanged:
    case kAbovePriceLimit:
      return host.phase == HostPhase::kReady;
    default:
      return false;
  }
}

model::Reason end_of(Closed closed) {
  HOSTLER_ASSERT(closed != Closed::kNo, "only a closed host ends for that");
  return closed == Closed::kOffMenu ? model::Reason::kOffMenu : model::Reason::kBeyondMax;
}

}  // namespace hostler::scheduler
