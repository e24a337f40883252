#include "sdk/check/host/rule_of_message.h"

#include <cctype>

namespace hostler::check {

std::optional<std::pair<std::string, std::string>> rule_in(const std::string& message) {
  for (std::size_t at = 0; at < message.size(); ++at) {
    if (at > 0 && message[at - 1] != ' ') continue;
    if (message.compare(at, 7, "limit: ") == 0) return {{"limit", message.substr(at + 7)}};
    std::size_t end = at + 1;
    while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end])) != 0)
      ++end;
    if (message[at] == 'R' && end > at + 1 && message.compare(end, 2, ": ") == 0)
      return {{message.substr(at, end - at), message.substr(end + 2)}};
  }
  return std::nullopt;
}

std::string rule_of_load(const std::string& message) {
  if (const auto named = rule_in(message)) return named->first;
  constexpr std::pair<const char*, const char*> kRules[]{
      {"exports no", "R1"},        {"returned NULL", "R4"},     {"ABI major", "R4"},
      {"of the driver ABI", "R5"}, {"needs ABI", "R4"},         {"(R13)", "R13"},
      {"name '", "R55"},           {"undefined symbol", "R47"}, {"static TLS", "R49"}};
  for (const auto& [part, rule] : kRules)
    if (message.find(part) != std::string::npos) return rule;
  return "R1";
}

}  // namespace hostler::check
