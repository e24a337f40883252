#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostler::local {

/// A configured price, in force from a time on until the next that matches as well.
struct PriceChange {
  std::string zone;          ///< Empty: every zone.
  std::uint32_t market = 0;  ///< HOSTLER_MARKET_*; ANY: both.
  std::int64_t from_unix_ns = 0;
  std::int64_t micros_per_hour = 0;
};

/// A price of one zone and market.
struct Price {
  std::string zone;
  std::uint32_t market = 0;
  std::int64_t start_unix_ns = 0;
  std::int64_t micros_per_hour = 0;
};

/// The price at a time, by the last change that began by then; of two that begin together, by the
/// one that is written later. -1 where none is in force.
std::int64_t price_at(const std::vector<PriceChange>& changes, const std::string& zone,
                      std::uint32_t market, std::int64_t unix_ns);

/// For one zone and market: the price in force at `since`, and each change after it up to `now`,
/// oldest first.
std::vector<Price> price_history(const std::vector<PriceChange>& changes, const std::string& zone,
                                 std::uint32_t market, std::int64_t since_unix_ns,
                                 std::int64_t now_unix_ns);

}  // namespace hostler::local
