#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/gpus.h"
#include "core/model/image.h"
#include "core/model/placement.h"
#include "core/model/resources.h"

namespace hostler::model {

/// Money: an integer, in millionths of the site's currency; a price is per hour. Never negative.
/// Sums saturate: a driver may report any price.
struct Micros {
  std::int64_t value = 0;
  friend auto operator<=>(const Micros&, const Micros&) = default;
  friend Micros operator+(Micros a, Micros b) {
    Micros sum;
    if (__builtin_add_overflow(a.value, b.value, &sum.value)) return {INT64_MAX};
    return sum;
  }
  Micros& operator+=(Micros b) { return *this = *this + b; }
};

/// No price of one hour is higher, wherever it comes from.
inline constexpr Micros kPriceMax{1'000'000'000'000};

enum class Market : std::uint8_t { kOnDemand, kSpot };
/// "on_demand", "spot".
const char* to_string(Market market);

/// A quota group's name is a part of the key of a gate.
inline constexpr std::size_t kQuotaGroupBytesMax = 63;

/// RAM of a host that jobs do not get: an amount or a share.
struct RamReserve {
  std::int64_t bytes = 0;
  std::int32_t share = 0;  ///< In hundredths of a percent of the host's RAM.
  friend bool operator==(const RamReserve&, const RamReserve&) = default;
};
/// What is left for jobs of a host with so much RAM: the one rule for offerings and hosts.
[[nodiscard]] inline std::int64_t ram_for_jobs(std::int64_t ram, const RamReserve& reserve) {
  __extension__ using Wide = __int128;
  const auto part = static_cast<std::int64_t>((Wide{ram} * reserve.share + 9'999) / 10'000);
  return std::max<std::int64_t>(0, ram - reserve.bytes - part);
}

/// An instance type of the site's menu. It becomes one offering for each zone and subnet, in each
/// set of a pool. Its members are what a site may say of a type, each a key of the configuration.
struct InstanceType {
  std::string name;                ///< `[a-z0-9_-]{1,63}`; also a tag's value.
  std::string provider_type;       ///< The cloud's name of it.
  Resources resources;             ///< Its scratch has `added_scratch` too.
  GpuGroups gpu_groups = {};       ///< Of resources.gpus cards together; empty: not said.
  std::int64_t added_scratch = 0;  ///< Bytes of a scratch disk to ask for; 0: none.
  Micros price_per_hour;
  Market market = Market::kOnDemand;
  std::vector<std::string> zones;  ///< Empty: one offering, the driver chooses the zone.
  std::string only_in;             ///< The set that offers it; empty: each set of its pools.
  std::string quota_group;         ///< Empty: the driver's own grouping, if it has one.
  std::string image_id;
  /// In place of `image_id`. Unset in a create, which has the id of one image.
  std::optional<ImageQuery> image = {};
  Placement placement =
      {};  ///< The pool's values win. Unset in a create, which has one of its own.
  // Of what hostler does with its hosts; unset in a create.
  std::int32_t jobs_max = 0;  ///< At the same time on one host; 0: as the pool says.
  RamReserve reserve = {};
  std::string provider_params_json = "{}";
  friend bool operator==(const InstanceType&, const InstanceType&) = default;
};

/// They differ in nothing but the price.
inline bool is_same_kind(InstanceType a, const InstanceType& b) {
  a.price_per_hour = b.price_per_hour;
  return a == b;
}

}  // namespace hostler::model
