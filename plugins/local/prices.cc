#include "prices.h"

#include <hostler/driver.h>

#include <algorithm>

namespace hostler::local {
namespace {

bool applies(const PriceChange& change, const std::string& zone, std::uint32_t market) {
  return (change.zone.empty() || change.zone == zone) &&
         (change.market == HOSTLER_MARKET_ANY || change.market == market);
}

/// The prices for this zone and market, oldest first. Of prices with the same start, only the last
/// one.
std::vector<Price> timeline(const std::vector<PriceChange>& changes, const std::string& zone,
                            std::uint32_t market) {
  std::vector<Price> line;
  for (const PriceChange& change : changes)
    if (applies(change, zone, market))
      line.push_back({zone, market, change.from_unix_ns, change.micros_per_hour});
  std::stable_sort(line.begin(), line.end(), [](const Price& a, const Price& b) {
    return a.start_unix_ns < b.start_unix_ns;
  });
  std::vector<Price> distinct;
  for (const Price& price : line) {
    if (!distinct.empty() && distinct.back().start_unix_ns == price.start_unix_ns)
      distinct.pop_back();
    distinct.push_back(price);
  }
  return distinct;
}

}  // namespace

std::int64_t price_at(const std::vector<PriceChange>& changes, const std::string& zone,
                      std::uint32_t market, std::int64_t unix_ns) {
  std::int64_t price = -1;
  for (const Price& step : timeline(changes, zone, market))
    if (step.start_unix_ns <= unix_ns) price = step.micros_per_hour;
  return price;
}

std::vector<Price> price_history(const std::vector<PriceChange>& changes, const std::string& zone,
                                 std::uint32_t market, std::int64_t since_unix_ns,
                                 std::int64_t now_unix_ns) {
  std::vector<Price> history;
  for (const Price& step : timeline(changes, zone, market)) {
    if (step.start_unix_ns > now_unix_ns) break;
    if (step.start_unix_ns <= since_unix_ns) history.clear();
    history.push_back(step);
  }
  return history;
}

}  // namespace hostler::local
