#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/cloud_records.h"
#include "core/model/offering.h"

/// Types that a pool chooses by their properties, from what the clouds offer.
namespace hostler::model {

/// Both bounds are included.
struct Bounds {
  std::int64_t low = 0, high = INT64_MAX;
  [[nodiscard]] bool contains(std::int64_t value) const { return low <= value && value <= high; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// Which gpus an offered type is to have: some `count` of them are equal, of this kind and memory.
struct GpuSelector {
  Bounds count;                       ///< Of all its gpus, where neither kind nor memory matters.
  std::string kind;                   ///< Empty: any.
  std::optional<Bounds> memory = {};  ///< Bytes of each; unset: any, also one that is not known.
  friend bool operator==(const GpuSelector&, const GpuSelector&) = default;

  /// It is about equal gpus, not about all of a type.
  [[nodiscard]] bool is_of_group() const { return !kind.empty() || memory; }
  [[nodiscard]] bool meets(const GpuGroup& group) const {
    return count.contains(group.count) && GpuWish{.kind = kind, .memory = 0}.meets(group) &&
           (!memory || (group.memory > 0 && memory->contains(group.memory)));
  }
};

/// Which of the offered types a pool buys: a member for each key of the configuration.
struct TypeSelector {
  Bounds vcpus, ram, scratch;
  GpuSelector gpus;
  Bounds ram_per_vcpu;       ///< Bytes.
  std::string architecture;  ///< Empty: any. An offering that names none passes.
  /// Of provider types; `*` stands for any text. `names` empty: all.
  std::vector<std::string> names, not_names;
  std::optional<Market> market = Market::kOnDemand;  ///< Unset: both.
  std::optional<Micros> price_max;                   ///< Of one hour.
  std::string provider_params_json;                  ///< Those of the pool; empty: none.
  friend bool operator==(const TypeSelector&, const TypeSelector&) = default;
};

/// The price of a provider type by a file of the site, in the currency of the site.
struct FilePrice {
  std::string provider_type;
  Market market = Market::kOnDemand;
  std::string zone;  ///< Empty: every zone that has no price of its own.
  Micros price_per_hour;
  friend bool operator==(const FilePrice&, const FilePrice&) = default;
};

/// A provider type of one market, as a set offers it in one zone: one row of the store.
struct OfferedRow {
  std::string set, provider_type;
  Market market = Market::kOnDemand;
  std::string zone;  ///< Empty: every zone.
  std::string name;  ///< Of the instance type that is made of it: the same in all zones.
  std::string architecture;
  Resources resources;     ///< 0: not known.
  GpuGroups gpu_groups;    ///< Of all its gpus; empty: not said.
  Micros price_per_hour;   ///< In `currency`.
  bool has_price = false;  ///< Else the set has not said one.
  std::string currency;    ///< Of the set; empty: that of the site.
  Availability available = Availability::kUnknown;
  friend bool operator==(const OfferedRow&, const OfferedRow&) = default;
};
/// The row is removed: the set offers it no longer.
struct OfferedGone {
  std::string set, provider_type;
  Market market = Market::kOnDemand;
  std::string zone;
  friend bool operator==(const OfferedGone&, const OfferedGone&) = default;
};

}  // namespace hostler::model
