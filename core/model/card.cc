#include "core/model/card.h"

#include <algorithm>

namespace hostler::model {

bool is_card_uuid(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  return !text.empty() && text.size() <= kBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != ','; });
}

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
