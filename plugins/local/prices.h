#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostler::local {

/// A configured price. It is valid from its time until that of the next price for the same zone and
/// market.
struct PriceChange {
  std::string zone;          ///< Empty: every zone.
  std::uint32_t market = 0;  ///< HOSTLER_MARKET_*; ANY: both markets.
  std::int64_t from_unix_ns = 0;
  std::int64_t micros_per_hour = 0;
};

/// The price for one zone and market from a time on.
struct Price {
  std::string zone;
  std::uint32_t market = 0;
  std::int64_t start_unix_ns = 0;
  std::int64_t micros_per_hour = 0;
};

/// The price at a time. Of two prices with the same start, the later one in the list counts. -1:
/// there is no price.
std::int64_t price_at(const std::vector<PriceChange>& changes, const std::string& zone,
                      std::uint32_t market, std::int64_t unix_ns);

/// For one zone and market: the price at `since` and each change from then until `now`, oldest
/// first.
std::vector<Price> price_history(const std::vector<PriceChange>& changes, const std::string& zone,
                                 std::uint32_t market, std::int64_t since_unix_ns,
                                 std::int64_t now_unix_ns);

}  // namespace hostler::local
