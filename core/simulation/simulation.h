#pragma once

#include "core/base/error.h"
#include "core/simulation/report.h"
#include "core/simulation/scenario.h"

namespace hostler::simulation {

/// Runs the scenario with the dispatcher and the planner of the daemon, in virtual time: equal
/// arguments give equal reports. A day of a thousand hosts takes seconds. check_against() has
/// accepted both. Fails if a trace or a time zone cannot be read, and beyond the limits of jobs; at
/// the limit of events it ends.
[[nodiscard]] Result<Report> simulate(const Scenario& scenario, const model::SitePolicy& policy,
                                      const Limits& limits = {});

}  // namespace hostler::simulation
