#include "core/agent/host/attempt/name_pattern.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace hostler::agent {
namespace {

/// Length of the `[...]` that `pattern` begins with; 0 if there is no closing bracket.
std::size_t set_length(std::string_view pattern) {
  std::size_t at = 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;
  while (at < pattern.size() && pattern[at] != ']') ++at;
  return at < pattern.size() ? at + 1 : 0;
}

bool in_set(std::string_view set, char c) {
  set = set.substr(1, set.size() - 2);
  const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    const auto low = static_cast<unsigned char>(set[i]);
    const auto high = static_cast<unsigned char>(range ? set[i + 2] : set[i]);
    found =
        found || (low <= static_cast<unsigned char>(c) && static_cast<unsigned char>(c) <= high);
    if (range) i += 2;
  }
  return found != negated;
}

/// Matches `c` with the first element of `pattern`, which is not a star. Returns the length of the
/// element, or nullopt if it does not match.
std::optional<std::size_t> match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[')
    if (const std::size_t length = set_length(pattern); length > 0)
      return in_set(pattern.substr(0, length), c) ? std::optional(length) : std::nullopt;
  if (pattern[0] == '\\' && pattern.size() > 1)
    return pattern[1] == c ? std::optional<std::size_t>(2) : std::nullopt;
  return pattern[0] == c ? std::optional<std::size_t>(1) : std::nullopt;
}

}  // namespace

bool matches_name(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\."))
    return false;
  // After a mismatch, only the last star is extended. The time is at most the product of the two
  // lengths, whatever the pattern is.
  std::size_t at = 0;
  std::size_t in = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = {++at, in};
      continue;
    }
    const auto length = at < pattern.size() ? match_one(pattern.substr(at), name[in])
                                            : std::optional<std::size_t>();
    if (length) {
      at += *length;
      ++in;
    } else if (star) {
      at = star->first;
      in = ++star->second;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace hostler::agent
