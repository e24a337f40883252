#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/questions/offered_types.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// Why a pool does not buy an offered type: the first condition that it does not meet. As shown.
enum class Excluded : std::uint8_t {
  kNames,
  kNotNames,
  kMarket,
  kArchitecture,
  kSizeUnknown,
  kVcpus,
  kGpus,
  kGpuKind,
  kGpuMemory,
  kRam,
  kRamPerVcpu,
  kScratch,
  kNoPrice,
  kNoExchangeRate,
  kPriceMax,
  kTooMany,
};
const char* to_string(Excluded why);

/// The offered types that a pool buys.
struct Selection {
  /// What a pool has at most: each type counts once for each of its zones. A plan's cost grows with
  /// them. If there are more, each set has its part, with its cheapest: none crowds out another.
  static constexpr std::size_t kOfferingsMax = 1'000;

  std::size_t offered = 0, selected = 0;  ///< Types of all its sets.
  std::map<Excluded, std::size_t> excluded;
};

/// The policy with the types that its pools choose of what is offered.
struct EffectivePolicy {
  model::SitePolicy site;
  std::map<std::uint32_t, Selection> selections;  ///< By pool.
};

/// Adds instance types for the offered types that a pool chooses, each with the name that
/// settle_names() gave it and the prices of its zones. A zone without a price is left out.
/// `in_use`: types that hosts have: a price above `price_max` does not take them off the menu,
/// where the pool's cap forbids to buy more of them.
[[nodiscard]] EffectivePolicy select_types(const model::SitePolicy& configured,
                                           const OfferedTypes& offered,
                                           const std::set<std::string>& in_use);

/// True if `pattern`, in which `*` stands for any text, describes all of `text`.
[[nodiscard]] bool is_like(const std::string& text, const std::string& pattern);

}  // namespace hostler::dispatch
