#pragma once

#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/offering.h"

/// What one kind of instance cost over time, and what a stretch of time on it costs.
namespace hostler::pricing {

/// Newest first, no two with one start, no neighbours with one price; what normalise() makes.
using History = std::vector<model::PricePoint>;

/// Brings points of any order into that form: of equal start times the one said last stays, of
/// equal neighbours the older start. O(n log n).
[[nodiscard]] History normalise(std::vector<model::PricePoint> said);

/// What [from, to) costs, rounded down to whole millionths once, at the end; 0 if to <= from.
/// The time before the first point costs its price. Saturates instead of overflowing; nullopt for
/// an empty history.
[[nodiscard]] std::optional<model::Micros> cost(const History& history, Wall from, Wall to);
/// The same at one price.
[[nodiscard]] model::Micros cost(model::Micros per_hour, Wall from, Wall to);

}  // namespace hostler::pricing
