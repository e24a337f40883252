#pragma once

#include <cstdint>
#include <string>

#include "chance.h"
#include "settings.h"

namespace hostler::fake {

/// What machines cost. Pure: time and chance are arguments or come from the seed.
class Market {
 public:
  Market(const Settings& settings, const Chance& chance) : settings_(settings), chance_(chance) {}

  /// Of a type in a zone at a time; 0: free.
  [[nodiscard]] std::int64_t price(const std::string& type, const std::string& zone, bool spot,
                                   std::int64_t now_ms) const {
    const auto found = settings_.types.find(type);
    if (found == settings_.types.end()) return 0;
    if (!spot) return found->second.price;
    const double up_or_down = 2 * chance_.unit("price", type + "/" + zone, interval_of(now_ms)) - 1;
    return static_cast<std::int64_t>(static_cast<double>(found->second.spot_price) *
                                     (1 + settings_.price_spread * up_or_down));
  }
  /// When the interval begins in which a time lies: within it, prices stay the same.
  [[nodiscard]] std::int64_t begin_of_interval(std::int64_t now_ms) const {
    return static_cast<std::int64_t>(interval_of(now_ms)) * settings_.price_interval_ms;
  }

 private:
  [[nodiscard]] std::uint64_t interval_of(std::int64_t now_ms) const {
    if (settings_.price_interval_ms == 0 || now_ms < 0) return 0;
    return static_cast<std::uint64_t>(now_ms / settings_.price_interval_ms);
  }

  const Settings& settings_;
  const Chance& chance_;
};

}  // namespace hostler::fake
