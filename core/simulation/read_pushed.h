#pragma once

#include <vector>

#include "core/json/reader.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// Reads the outside schedulers of a scenario:
/// [{"pool": "gpu", "tasks": [{"slots": 4, "runs": "10m", "per_hour": 6}]}].
/// `lasts`: of the scenario.
void read_pushed(const json::Field& field, Duration lasts, std::vector<PushedLoad>& out);

}  // namespace hostler::simulation
