#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"

namespace hostler::ec2 {

/// A change of the price of a type on the spot market.
struct SpotPrice {
  std::string type, zone;
  std::int64_t start_unix_ns = 0, micros_per_hour = 0;
};

/// On-demand prices in millionths per hour, by type, from a file {"prices": {"m6i.large": 0.115}}.
/// Throws INVALID that names the file and what is wrong in it.
std::map<std::string, std::int64_t> read_prices(const std::string& path);

/// "0.012300" in millionths; -1 if it is no price.
std::int64_t read_micros(const std::string& text);

/// "2026-11-25T03:00:00Z"
std::string time_text(std::int64_t unix_ns);

/// What types have cost on the spot market, kept for a while. From any thread, several at once.
class SpotPrices {
 public:
  SpotPrices(const Api& api, std::int64_t keep_ms) : api_(api), keep_(keep_ms) {}

  /// Each change after `since`, and for each zone the price in force then. Throws Refused and
  /// driver::Error.
  std::vector<SpotPrice> history(const std::string& type, std::int64_t since_unix_ns,
                                 hostler_op* op);
  /// What types cost now. \param types names; empty: all.
  std::vector<SpotPrice> now(const std::vector<std::string>& types, hostler_op* op);
  /// What it cost when that was last asked for; -1: nobody has asked.
  [[nodiscard]] std::int64_t known(const std::string& type, const std::string& zone);

 private:
  struct Kept {
    std::int64_t since = 0;
    std::chrono::steady_clock::time_point as_of;
    std::vector<SpotPrice> prices;
  };

  std::vector<SpotPrice> ask(const std::vector<std::string>& types, std::int64_t since,
                             hostler_op* op);

  const Api& api_;
  const std::chrono::milliseconds keep_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;                               ///< By type, under mutex_.
  std::map<std::pair<std::string, std::string>, SpotPrice> last_;  ///< By type and zone, likewise.
};

/// Of `prices`: those after `since`, and for each type and zone the last one before.
std::vector<SpotPrice> in_force_since(const std::vector<SpotPrice>& prices, std::int64_t since);

}  // namespace hostler::ec2
