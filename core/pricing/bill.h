#pragma once

#include <cstdint>

#include "core/model/resources.h"
#include "core/pricing/history.h"

namespace hostler::pricing {

/// What an instance cost over [from, to), `off_us` microseconds of which it was switched off: that
/// time costs nothing, and is taken to be spread evenly. Priced by the history; by `otherwise` per
/// hour where there is none.
[[nodiscard]] model::Micros cost_of_stay(const History& history, model::Micros otherwise, Wall from,
                                         Wall to, std::int64_t off_us = 0);

/// What of an instance's cost is a job's that used `used` of its `total`: the largest share of any
/// one resource. All of it where the total is not known (zero).
[[nodiscard]] model::Micros part_of(model::Micros cost, const model::Resources& used,
                                    const model::Resources& total);

}  // namespace hostler::pricing
