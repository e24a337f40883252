#pragma once

#include <map>
#include <string>

#include "core/json/reader.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// Reads what metrics say in a scenario, by their names: [["0s", 1], ["10m", null]],
/// {"every": "1m", "values": [1, 2]}, or {"by": {KEY: one of these}}.
void read_metrics(const json::Field& field, std::map<std::string, MetricSeries>& out);

}  // namespace hostler::simulation
