#include "core/sources/zones.h"

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/base/text.h"

namespace hostler::sources {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

constexpr std::size_t kZoneNameMax = 64;
constexpr Duration kSpanMax = hours(24 * 3660);

bool may_be_name(std::string_view zone) {
  if (zone.empty() || zone.size() > kZoneNameMax || zone.find("..") != zone.npos) return false;
  if (zone.front() == '/' || zone.back() == '/') return false;
  return std::all_of(zone.begin(), zone.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  });
}

Result<const date::time_zone*> find_zone(std::string_view zone) {
  const auto unknown = [&] {
    return fail(Errc::kNotFound, "this machine knows no time zone " + printable(zone, 80) +
                                     "; write one as \"Europe/Berlin\" or \"UTC\"");
  };
  if (!may_be_name(zone)) return unknown();
  try {
    date::get_tzdb();
  } catch (const std::exception&) {
    return fail(Errc::kUnavailable, "this machine has no time zones; install the package tzdata");
  }
  try {
    return date::locate_zone(zone);
  } catch (const std::exception&) {
    return unknown();
  }
}

date::sys_seconds seconds_of(Wall wall) {
  return std::chrono::floor<std::chrono::seconds>(
      date::sys_time<microseconds>(microseconds(wall.us)));
}

Wall wall_of(date::sys_seconds time) {
  return {std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count()};
}

}  // namespace

Result<void> check_zone(std::string_view zone) {
  HOSTLER_TRY(find_zone(zone));
  return {};
}

Result<model::ZoneTimes> zone_times(const std::string& zone, Wall from, Wall until) {
  const date::time_zone* const found = HOSTLER_TRY(find_zone(zone));
  const date::sys_seconds end = seconds_of(std::min(until, from + kSpanMax));
  model::ZoneTimes times{zone, {}};
  try {
    date::sys_info info = found->get_info(seconds_of(from));
    times.offsets.push_back({from, static_cast<std::int32_t>(info.offset.count())});
    while (info.end < end) {
      const date::sys_seconds next = info.end;
      info = found->get_info(next);
      times.offsets.push_back({wall_of(next), static_cast<std::int32_t>(info.offset.count())});
    }
  } catch (const std::exception& problem) {
    return fail(Errc::kUnavailable,
                "the time zone " + zone + " cannot be read: " + printable(problem.what(), 160));
  }
  return times;
}

}  // namespace hostler::sources
