#pragma once

#include <cstdint>
#include <hostler/driver.hpp>
#include <map>
#include <string>

namespace hostler::fake {

using Tags = std::map<std::string, std::string>;

/// A machine of the fake cloud. Times are of the cloud's clock, in milliseconds.
struct Machine {
  static constexpr std::int64_t kNever = INT64_MAX;

  std::string id, key, type, zone;
  std::string remote_user;  ///< Made for the login; empty: none was asked for.
  bool spot = false;
  Tags tags;
  std::int64_t created = 0;
  std::int64_t boots = 0;  ///< When it runs, or fails.
  bool boot_fails = false;
  bool lacks_stock = false;         ///< It was accepted, and cannot be made.
  std::int64_t ends = kNever;       ///< When it was destroyed, or is taken back.
  std::int64_t reclaimed = kNever;  ///< When the provider takes it back.
  std::int64_t shown = 0;           ///< From when on a list has it.
  std::int64_t lingers = 0;         ///< For how long a list still has it after its end.

  [[nodiscard]] bool exists(std::int64_t now) const { return now < ends; }
  [[nodiscard]] bool is_listed(std::int64_t now) const {
    return now >= shown && (ends == kNever || now < ends + lingers);
  }
  /// HOSTLER_STATE_*. A list that lags behind shows the last state before the end.
  [[nodiscard]] std::uint32_t state(std::int64_t now) const {
    if (now < boots) return HOSTLER_STATE_PENDING;
    return boot_fails || lacks_stock ? HOSTLER_STATE_FAILED : HOSTLER_STATE_RUNNING;
  }
};

}  // namespace hostler::fake
