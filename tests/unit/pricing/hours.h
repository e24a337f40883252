#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "core/model/records.h"

namespace hostler::pricing {

constexpr std::int64_t kHour = 3'600'000'000;

inline Wall hour(std::int64_t n) { return {n * kHour}; }

/// What "small" of "west" costs from that hour on.
inline model::PriceRow seen(std::int64_t from, std::int64_t value, const std::string& zone = "z1") {
  return {"west", "small", zone, model::Market::kOnDemand, {hour(from), {value}}};
}

}  // namespace hostler::pricing
