#include "core/hosts/notice_text.h"

#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/units.h"

namespace hostler::hosts {
namespace {

using model::InterruptionAction;

constexpr std::array<std::pair<std::string_view, InterruptionAction>, 7> kWords{{
    {"terminat", InterruptionAction::kTerminate},
    {"stop", InterruptionAction::kStop},
    {"hibernat", InterruptionAction::kSuspend},
    {"suspend", InterruptionAction::kSuspend},
    {"freeze", InterruptionAction::kSuspend},
    {"restart", InterruptionAction::kRestart},
    {"reboot", InterruptionAction::kRestart},
}};

InterruptionAction action_in(const std::string& text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  auto out = InterruptionAction::kNotSaid;
  std::size_t first = std::string::npos;
  for (const auto& [word, action] : kWords)
    if (const auto at = lower.find(word); at < first) {
      first = at;
      out = action;
    }
  return out;
}

/// The date and the time of RFC 3339 that begins there, in UTC.
std::optional<Wall> time_at(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == kShape[i];
    if (!fits) return std::nullopt;
  }
  std::size_t end = kShape.size();
  if (text[end] == '.')
    for (++end; end < text.size() && text[end] >= '0' && text[end] <= '9';) ++end;
  const std::string_view zone = text.substr(end);
  if (!zone.starts_with("Z") && !zone.starts_with("+00:00")) return std::nullopt;
  return parse_wall(std::string(text.substr(0, kShape.size())) + "Z");
}

}  // namespace

model::HostInterruption read_notice(const std::string& text) {
  model::HostInterruption out;
  out.text = text;
  if (text.empty()) {
    out.action = InterruptionAction::kWithdrawn;
    return out;
  }
  out.action = action_in(text);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (const auto at = time_at(std::string_view(text).substr(i))) {
      out.at = *at;
      break;
    }
  return out;
}

}  // namespace hostler::hosts
