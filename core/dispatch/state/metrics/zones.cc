#include "core/dispatch/state/metrics/zones.h"

#include <algorithm>

namespace hostler::dispatch {
namespace {

constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace

void Zones::take(const std::vector<model::ZoneTimes>& zones) {
  for (const auto& one : zones) zones_[one.zone] = one.offsets;
}

std::optional<std::int64_t> Zones::local(std::string_view zone, Wall now) const {
  const auto found = zones_.find(zone);
  if (found == zones_.end()) return std::nullopt;
  const auto next = std::ranges::upper_bound(found->second, now, {}, &model::ZoneOffset::from);
  if (next == found->second.begin()) return std::nullopt;
  return floor_div(now.us, 1'000'000) + std::prev(next)->seconds;
}

std::optional<std::int64_t> Zones::hour(std::string_view zone, Wall now) const {
  const auto seconds = local(zone, now);
  if (!seconds) return std::nullopt;
  return floor_div(*seconds, kHour) - 24 * floor_div(*seconds, kDay);
}

std::optional<std::int64_t> Zones::weekday(std::string_view zone, Wall now) const {
  const auto seconds = local(zone, now);
  if (!seconds) return std::nullopt;
  const std::int64_t from_thursday = floor_div(*seconds, kDay) + 3;  // 1970-01-01.
  return from_thursday - 7 * floor_div(from_thursday, 7) + 1;
}

}  // namespace hostler::dispatch
