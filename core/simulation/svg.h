#pragma once

#include <string>

#include "core/simulation/report.h"

namespace hostler::simulation {

/// A drawing of the queue and the fleet over time, for each report. Well-formed, whatever the
/// names.
[[nodiscard]] std::string to_svg(const std::vector<Named>& reports);

}  // namespace hostler::simulation
