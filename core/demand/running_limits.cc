#include "core/demand/running_limits.h"

#include "core/base/units.h"

namespace hostler::demand {
namespace {

/// The item alone is beyond a limit; empty: it is not.
std::string cannot_start(const BeyondLimits& item) {
  const auto& limit = item.quota.running_vcpus_max;
  const auto& price = item.quota.running_price_per_hour_max;
  if (limit && item.vcpus > *limit)
    return "it needs " + to_string(item.vcpus) + " vcpus, and running_vcpus_max of " +
           item.principal + " is " + to_string(*limit) + ": it cannot start with this limit";
  if (price && item.part && item.part->least > *price)
    return "its part of the cheapest host costs " + format_money(item.part->least.value) +
           " per hour, and running_price_per_hour_max of " + item.principal + " is " +
           format_money(price->value) + ": it cannot start with this limit";
  return "";
}

}  // namespace

std::string reason_of(const BeyondLimits& item) {
  if (std::string alone = cannot_start(item); !alone.empty()) return alone;
  const auto& limit = item.quota.running_vcpus_max;
  const auto& price = item.quota.running_price_per_hour_max;
  std::string out;
  const auto say = [&](const std::string& now, const std::string& most, const std::string& what) {
    out += (out.empty() ? item.principal + " runs " : ", and ") + now + " of " + most + " " + what;
  };
  const bool lacks_vcpus = limit && item.held.vcpus + item.vcpus > *limit;
  const bool lacks_price =
      price && item.part && item.held.price_per_hour + item.part->least > *price;
  const bool is_behind = !lacks_vcpus && !lacks_price;
  if (limit && (lacks_vcpus || is_behind))
    say(to_string(item.held.vcpus), to_string(*limit), "vcpus (running_vcpus_max)");
  if (price && (lacks_price || is_behind))
    say(format_money(item.held.price_per_hour.value), format_money(price->value),
        "per hour (running_price_per_hour_max)");
  return is_behind ? out + "; earlier jobs of " + item.principal + " take the rest" : out;
}

}  // namespace hostler::demand
