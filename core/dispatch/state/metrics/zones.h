#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.h"

namespace hostler::dispatch {

/// The time of day in time zones, by the offsets that were read of them. A restart forgets them.
class Zones {
 public:
  void take(const std::vector<model::ZoneTimes>& zones);
  /// 0 to 23; nullopt: the zone was not read, or not for this time.
  [[nodiscard]] std::optional<std::int64_t> hour(std::string_view zone, Wall now) const;
  /// 1 (Monday) to 7; likewise.
  [[nodiscard]] std::optional<std::int64_t> weekday(std::string_view zone, Wall now) const;

 private:
  /// Seconds since 1970-01-01 of the clocks there.
  [[nodiscard]] std::optional<std::int64_t> local(std::string_view zone, Wall now) const;

  std::map<std::string, std::vector<model::ZoneOffset>, std::less<>> zones_;
};

}  // namespace hostler::dispatch
