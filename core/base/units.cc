#include "core/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <span>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace hostler {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kDurations{Unit{"ns", 1},     Unit{"us", 1e3}, Unit{"ms", 1e6},
                                Unit{"s", 1e9},    Unit{"m", 60e9}, Unit{"h", 3600e9},
                                Unit{"d", 86400e9}};
constexpr std::array kSizes{Unit{"B", 1},
                            Unit{"KiB", 1024},
                            Unit{"MiB", 1048576},
                            Unit{"GiB", 1073741824},
                            Unit{"TiB", 1099511627776},
                            Unit{"KB", 1e3},
                            Unit{"MB", 1e6},
                            Unit{"GB", 1e9},
                            Unit{"TB", 1e12}};

Result<std::int64_t> parse(std::string_view text, std::span<const Unit> units,
                           std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    std::string names;
    for (const Unit& unit : units) names += (names.empty() ? "" : " ") + std::string(unit.name);
    return fail(Errc::kInvalidArgument, "'" + printable(text, 40) + "' is not a " +
                                            std::string(what) + ": " + std::string(why) +
                                            " (units: " + names + ")");
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (problem != std::errc()) return refuse("it must begin with a number");
  if (number < 0 || !std::isfinite(number)) return refuse("it must not be negative");
  const std::string_view name(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const double value = number * unit.factor;
    if (value >= 9.2e18) return refuse("it is too large");
    return static_cast<std::int64_t>(std::llround(value));
  }
  return refuse(name.empty() ? "it needs a unit" : "its unit is unknown");
}

std::string scaled(double value, std::span<const Unit> units, double shown_from) {
  const Unit* best = &units[0];
  for (const Unit& unit : units)
    if (value >= unit.factor * shown_from) best = &unit;
  std::array<char, 32> digits{};
  const double shown = value / best->factor;
  const bool whole = std::abs(shown - std::round(shown)) < 0.05;
  // Not snprintf: each waiting class of a plan has a reason with sizes in it.
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), shown,
                                 std::chars_format::fixed, whole ? 0 : 1);
  HOSTLER_ASSERT(end.ec == std::errc(), "a number of 64 bits has fewer than 32 digits");
  return std::string(digits.data(), end.ptr).append(" ").append(best->name);
}

std::string exact(std::int64_t value, std::span<const Unit> units) {
  const Unit* best = &units[0];
  for (const Unit& unit : units)
    if (value != 0 && value % static_cast<std::int64_t>(unit.factor) == 0) best = &unit;
  return std::to_string(value / static_cast<std::int64_t>(best->factor)) + std::string(best->name);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto ns = HOSTLER_TRY(parse(text, kDurations, "duration"));
  return Duration(ns);
}

Result<std::int64_t> parse_size(std::string_view text) { return parse(text, kSizes, "size"); }

std::string format_duration(Duration d) {
  return scaled(static_cast<double>(d.count()), kDurations, 1);
}

std::string format_size(std::int64_t bytes) {
  return scaled(static_cast<double>(bytes), std::span(kSizes).first(5), 1);
}

std::string exact_duration(Duration d) {
  return d == Duration{} ? "0s" : exact(d.count(), kDurations);
}

std::string exact_size(std::int64_t bytes) { return exact(bytes, std::span(kSizes).first(5)); }

std::string exact_wall(Wall wall) {
  std::string out = format_wall({wall.us == 0 ? 1 : wall.us});
  const std::string micros = std::to_string(1'000'000 + wall.us % 1'000'000);
  return out.replace(out.size() - 1, 1, "." + micros.substr(1) + "Z");
}

std::string format_money(std::int64_t micros) {
  std::string digits = std::to_string(1'000'000 + std::abs(micros % 1'000'000)).substr(1);
  while (digits.size() > 2 && digits.ends_with('0')) digits.pop_back();
  return (micros < 0 ? "-" : "") + std::to_string(std::abs(micros / 1'000'000)) + "." + digits;
}

std::string format_wall(Wall wall) {
  if (wall.us == 0) return "-";
  const std::time_t seconds = wall.us / 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> out{};
  std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return out.data();
}

std::optional<Wall> parse_wall(std::string_view text) {
  std::tm utc{};
  const std::string copy(text);
  const char* rest = ::strptime(copy.c_str(), "%Y-%m-%d", &utc);
  if (rest == nullptr || text.size() < 10 || text[4] != '-') return std::nullopt;
  std::int64_t micros = 0;
  if (*rest != '\0') {
    rest = ::strptime(rest, "T%H:%M:%S", &utc);
    if (rest == nullptr) return std::nullopt;
    if (*rest == '.') {
      std::int64_t unit = 100'000;
      for (++rest; *rest >= '0' && *rest <= '9'; ++rest, unit /= 10) micros += (*rest - '0') * unit;
    }
    if (std::string_view(rest) != "Z") return std::nullopt;
  }
  const int day = utc.tm_mday;
  const std::time_t seconds = ::timegm(&utc);  // converts 31 February to 3 March; checked below
  if (seconds < 0 || utc.tm_mday != day) return std::nullopt;
  return Wall{seconds * 1'000'000 + micros};
}

}  // namespace hostler
