#include "condition.h"

#include <hostler/driver.h>

namespace hostler::local {
namespace {

Condition assess_alive(const Evidence& evidence) {
  if (evidence.order.wanted == Wanted::kStopped) return {HOSTLER_STATE_STOPPING, "", Remedy::kNone};
  switch (evidence.state.phase) {
    case Phase::kRunning:
      return {HOSTLER_STATE_RUNNING, "", Remedy::kNone};
    case Phase::kFailed:
      return {HOSTLER_STATE_FAILED, evidence.state.reason, Remedy::kNone};
    case Phase::kNew:
    case Phase::kBooting:
    case Phase::kStopped:  // about to boot
      break;
  }
  return {HOSTLER_STATE_PENDING, "", Remedy::kNone};
}

Condition assess_dead(const Evidence& evidence) {
  if (evidence.order.wanted == Wanted::kStopped) return {HOSTLER_STATE_STOPPED, "", Remedy::kNone};
  switch (evidence.state.phase) {
    case Phase::kNew:
    case Phase::kStopped:
      return {HOSTLER_STATE_PENDING, "", Remedy::kStart};
    case Phase::kFailed:
      return {HOSTLER_STATE_FAILED, evidence.state.reason, Remedy::kNone};
    case Phase::kBooting:
    case Phase::kRunning:
      break;
  }
  return {HOSTLER_STATE_FAILED, "its supervisor was killed, or this machine was restarted",
          Remedy::kNone};
}

}  // namespace

Condition assess(const Evidence& evidence) {
  const bool alive = evidence.locked || evidence.machine_runs;
  if (evidence.order.wanted == Wanted::kDestroyed)
    return {HOSTLER_STATE_TERMINATING, "", alive ? Remedy::kNone : Remedy::kRemove};
  return alive ? assess_alive(evidence) : assess_dead(evidence);
}

}  // namespace hostler::local
