#pragma once

#include <cstdint>

#include "core/model/offering.h"

namespace hostler::pricing {

/// A cloud's price may be so many times what the site has configured. Above it, the driver, the
/// cloud or the configuration is wrong.
inline constexpr std::int64_t kDoubtedFactor = 100;

/// A configured price of 0 is no measure.
[[nodiscard]] inline bool is_doubted(model::Micros price, model::Micros configured) {
  return configured.value > 0 && price.value / kDoubtedFactor >= configured.value &&
         price.value > configured.value * kDoubtedFactor;
}
/// The price has become one that is doubted.
[[nodiscard]] inline bool becomes_doubted(model::Micros before, model::Micros now,
                                          model::Micros configured) {
  return !is_doubted(before, configured) && is_doubted(now, configured);
}

}  // namespace hostler::pricing
