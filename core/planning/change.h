#pragma once

#include <vector>

#include "core/planning/question.h"
#include "core/scheduler/plan.h"

namespace hostler::planning {

/// The question as it would be right after a reload to this configuration: its pools, types and
/// prices, without the offerings and types that it no longer has. It has the sets of the old one,
/// and its pools first. Types that sets offer stay.
Question after_reload(const Question& now, const model::SitePolicy& fresh);

/// Hosts that plans would shut down after the reload and would not without it; those of all
/// decisions together, as far as one snapshot tells.
std::vector<scheduler::Shutdown> shutdowns_by(const Question& now, const model::SitePolicy& fresh);

}  // namespace hostler::planning
