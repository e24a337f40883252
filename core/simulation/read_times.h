#pragma once

#include "core/json/reader.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

inline constexpr Duration kShortestTime = 1ms, kLongestTime = 24h * 365;

/// Reads "30s", {"least": "20s", "most": "40s"} or {"mean": "5m"}. Absent: `out` stays as it is.
void read_spread(const json::Field& field, Spread& out);
/// Reads when the things of a part of the load arrive: `from`, `until`, and one of `count`,
/// `per_hour` and `every`. `lasts`: of the scenario.
void read_times(json::Object& o, Duration lasts, Arrivals& out);

}  // namespace hostler::simulation
