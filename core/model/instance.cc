#include "core/model/instance.h"

#include "core/model/offering.h"

namespace hostler::model {

const char* to_string(Market market) { return market == Market::kSpot ? "spot" : "on_demand"; }

const char* to_string(InstanceState state) {
  switch (state) {
    case InstanceState::kRequested:
      return "requested";
    case InstanceState::kBooting:
      return "booting";
    case InstanceState::kUnknown:
      return "unknown";
    case InstanceState::kIdle:
      return "idle";
    case InstanceState::kBusy:
      return "busy";
    case InstanceState::kStopped:
      return "stopped";
    case InstanceState::kTerminating:
      return "terminating";
    case InstanceState::kAbandoned:
      return "abandoned";
    case InstanceState::kVanished:
      return "vanished";
    case InstanceState::kGone:
      return "gone";
  }
  return "?";
}

const char* to_string(IdleBehavior behavior) {
  switch (behavior) {
    case IdleBehavior::kRun:
      return "run";
    case IdleBehavior::kHold:
      return "hold";
    case IdleBehavior::kDrain:
      return "drain";
  }
  return "?";
}

std::optional<IdleBehavior> parse_idle_behavior(std::string_view text) {
  if (text == "run") return IdleBehavior::kRun;
  if (text == "hold") return IdleBehavior::kHold;
  if (text == "drain") return IdleBehavior::kDrain;
  return std::nullopt;
}

const char* to_string(Health health) {
  switch (health) {
    case Health::kHealthy:
      return "healthy";
    case Health::kUnreachable:
      return "unreachable";
    case Health::kBroken:
      return "broken";
  }
  return "?";
}

const char* to_string(VerifyMethod method) {
  switch (method) {
    case VerifyMethod::kDriver:
      return "driver";
    case VerifyMethod::kDelivered:
      return "delivered";
    case VerifyMethod::kChallenge:
      return "challenge";
  }
  return "?";
}

const char* to_string(Rotation rotation) {
  switch (rotation) {
    case Rotation::kDue:
      return "due";
    case Rotation::kNone:
      return "none";
    case Rotation::kDone:
      return "done";
  }
  return "?";
}

std::optional<VerifyMethod> parse_verify_method(std::string_view text) {
  if (text == "driver") return VerifyMethod::kDriver;
  if (text == "delivered") return VerifyMethod::kDelivered;
  if (text == "challenge") return VerifyMethod::kChallenge;
  return std::nullopt;
}

}  // namespace hostler::model
