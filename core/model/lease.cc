#include "core/model/lease.h"

namespace hostler::model {

const char* lease_state(WorkState state) {
  switch (state) {
    case WorkState::kQueued:
      return "waiting";
    case WorkState::kStarting:
      return "granting";
    case WorkState::kRunning:
      return "granted";
    case WorkState::kCollecting:
      return "ending";
    case WorkState::kHeld:
      return "held";
    case WorkState::kSucceeded:
    case WorkState::kFailed:
    case WorkState::kCancelled:
      return "ended";
  }
  return "?";
}

}  // namespace hostler::model
