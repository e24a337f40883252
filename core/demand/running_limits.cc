#include "core/demand/running_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/base/units.h"
#include "core/demand/allowance.h"

namespace hostler::demand {
namespace {

/// How people read the limit of one amount, in the order of Amounts::values().
struct Words {
  const char* key;
  const char* unit;
  const char* needs;  ///< Before the amount that the item alone holds.
  const char* after;  ///< After it.
  std::string (*text)(std::int64_t value);
};
constexpr std::array<Words, model::Amounts::kCount> kWords{{
    {"running_price_per_hour_max", "per hour", "its part of the cheapest host costs ", " per hour",
     [](std::int64_t value) { return format_money(value); }},
    {"running_vcpus_max", "vcpus", "it needs ", " vcpus",
     [](std::int64_t value) { return to_string(model::Vcpus::of_thousandths(value)); }},
    {"running_gpus_max", "gpus", "it needs ", " gpus",
     [](std::int64_t value) { return std::to_string(value); }},
}};
/// Sizes are said before prices.
constexpr std::array<std::size_t, model::Amounts::kCount> kSaid{1, 2, model::Amounts::kPrice};

}  // namespace

std::string reason_of(const BeyondLimits& item) {
  const auto limits = Allowance::of(item.quota).values();
  const auto part = item.part.values(), held = item.held.values();
  for (const std::size_t i : kSaid)
    if (limits[i] && part[i] > *limits[i])
      return kWords[i].needs + kWords[i].text(part[i]) + kWords[i].after + ", and " +
             kWords[i].key + " of " + item.principal + " is " + kWords[i].text(*limits[i]) +
             ": it cannot start with this limit";
  const auto lacks = [&](std::size_t i) {
    return limits[i] && part[i] > 0 && held[i] + part[i] > *limits[i];
  };
  const bool is_behind = std::ranges::none_of(kSaid, lacks);
  std::string out;
  for (const std::size_t i : kSaid)
    if (limits[i] && (is_behind || lacks(i)))
      out += (out.empty() ? item.principal + " runs " : ", and ") + kWords[i].text(held[i]) +
             " of " + kWords[i].text(*limits[i]) + " " + kWords[i].unit + " (" + kWords[i].key +
             ")";
  return is_behind ? out + "; earlier jobs of " + item.principal + " take the rest" : out;
}

}  // namespace hostler::demand
