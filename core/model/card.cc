#include "core/model/card.h"

namespace hostler::model {

const char* to_string(CardGuard guard) {
  switch (guard) {
    case CardGuard::kNone:
      return "none";
    case CardGuard::kOwners:
      return "owners";
    case CardGuard::kCgroup1:
      return "cgroup_v1";
    case CardGuard::kBpf:
      return "bpf";
  }
  return "none";
}

const char* to_string(CardState state) {
  switch (state) {
    case CardState::kFree:
      return "free";
    case CardState::kUsed:
      return "used";
    case CardState::kBad:
      return "bad";
    case CardState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace hostler::model
