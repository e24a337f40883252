#include "core/expression/window.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::expression {

Result<Duration> parse_window(std::string_view text) {
  constexpr std::string_view kNumber = "0123456789.";
  constexpr Duration kMax = std::chrono::hours(24 * 365);
  Duration out{};
  std::string_view rest = text;
  do {
    const std::size_t unit = std::min(rest.find_first_not_of(kNumber), rest.size());
    const std::size_t end = std::min(rest.find_first_of(kNumber, unit), rest.size());
    const Duration part = HOSTLER_TRY(parse_duration(rest.substr(0, end)));
    if (part > kMax - out) return fail(Errc::kInvalidArgument, "this time is longer than 365d");
    out += part;
    rest.remove_prefix(end);
  } while (!rest.empty());
  if (out == Duration{}) return fail(Errc::kInvalidArgument, "this time has to be above 0");
  return out;
}

bool is_zone_name(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  };
  return text.size() <= kBytesMax && is_safe_path(text) &&
         std::all_of(text.begin(), text.end(), fits);
}

}  // namespace hostler::expression
