#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/metric.h"

/// Time zones of the system (tzdata). The only folder that uses the library `date`.
namespace hostler::sources {

/// kNotFound if the system does not have the zone; kUnavailable if it has no zones at all.
[[nodiscard]] Result<void> check_zone(std::string_view zone);
/// The offsets of a zone from `from` on until `until`, of ten years at most. Blocks to read the
/// system's time zones, which a process reads once.
[[nodiscard]] Result<model::ZoneTimes> zone_times(const std::string& zone, Wall from, Wall until);

}  // namespace hostler::sources
