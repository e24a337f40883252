#pragma once

#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/offering.h"

/// The price history of one offering, and the cost of a period of time by this history.
namespace hostler::pricing {

/// Newest first. No two points have the same start, and no two neighbours the same price. Made by
/// normalise().
using History = std::vector<model::PricePoint>;

/// Makes a History of points in any order. Of points with the same start, the last one is kept; of
/// neighbours with the same price, the older one. O(n log n).
[[nodiscard]] History normalise(std::vector<model::PricePoint> points);

/// The cost of [from, to), rounded down to whole millionths at the end; 0 if to <= from. The time
/// before the oldest point costs its price. Saturates instead of overflowing; nullopt if the
/// history is empty.
[[nodiscard]] std::optional<model::Micros> cost(const History& history, Wall from, Wall to);
/// The cost of [from, to) at a constant price.
[[nodiscard]] model::Micros cost(model::Micros per_hour, Wall from, Wall to);

}  // namespace hostler::pricing
