#include "core/dispatch/state/gang_checks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/base/units.h"
#include "core/demand/lane_caps.h"
#include "core/scheduler/bounds.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/price_rule.h"

namespace hostler::dispatch {
namespace {

/// Which hosts a gang may have at best.
struct Most {
  std::map<std::uint32_t, std::int64_t> pools, sets;  ///< Hosts, by pool and by set.
  std::optional<demand::PartRange> host;              ///< What one host comes to.
};

/// How many hosts the ceilings allow, at most `most`. A ceiling of 0 is no limit.
std::int64_t within(const model::Ceilings& ceilings, model::Micros price, std::int64_t most) {
  if (ceilings.instances_max > 0) most = std::min<std::int64_t>(most, ceilings.instances_max);
  if (ceilings.price_per_hour_max.value > 0 && price.value > 0)
    most = std::min(most, ceilings.price_per_hour_max.value / price.value);
  return most;
}

void add(const scheduler::Offering& offering, const model::SitePolicy& policy,
         const std::vector<scheduler::PoolNumbers>& bounds, Most& out) {
  const auto& price = offering.price_per_hour;
  const auto host = model::Amounts::of(offering.resources, price);
  if (!out.host) out.host = {host, host};
  out.host->add(host);
  auto& in_pool = out.pools[offering.pool];
  in_pool = std::max(in_pool, within(policy.pools[offering.pool].ceilings, price,
                                     bounds[offering.pool].started.max.value));
  auto& in_set = out.sets[offering.set];
  in_set = std::max(in_set, within(policy.sets[offering.set].ceilings, price, INT32_MAX));
}

/// A zone of a set. No value: wherever hosts are.
using Zone = std::optional<std::pair<std::uint32_t, std::string>>;

/// By the places of which one has to hold the whole gang.
std::map<Zone, Most> most_of(const model::WorkShape& shape,
                             const std::vector<scheduler::Offering>& offerings,
                             const model::SitePolicy& policy) {
  std::map<Zone, Most> out;
  const auto bounds = scheduler::numbers_of(policy, {}, {}, {});
  for (const auto& offering : offerings) {
    if (!scheduler::is_valid(offering, policy)) continue;
    if (!scheduler::may_come_within_cap(offering, policy) ||
        !scheduler::fits(shape, model::WorkKind::kLease, offering, policy))
      continue;
    Zone zone;
    if (shape.gang.one_zone) zone.emplace(offering.set, offering.zone);
    add(offering, policy, bounds, out[zone]);
  }
  return out;
}

std::int64_t sum(const std::map<std::uint32_t, std::int64_t>& of) {
  std::int64_t out = 0;
  for (const auto& [index, count] : of) out += count;
  return out;
}

Result<void> check_most(const Most& most, const model::Gang& gang, const std::string& principal,
                        const model::SitePolicy& policy) {
  const std::int64_t count = gang.count;
  const auto refuse = [&](Errc code, std::int64_t can, const std::string& limit) {
    return fail(code, "a gang of " + std::to_string(count) + " hosts can never be granted: " +
                          limit + " allow " + std::to_string(can) + " at most" +
                          (gang.one_zone ? " in one zone" : "") + "; ask for fewer");
  };
  if (const auto can = sum(most.pools); can < count)
    return refuse(Errc::kInvalidArgument, can, "max and the ceilings of its pools");
  if (const auto can = sum(most.sets); can < count)
    return refuse(Errc::kInvalidArgument, can, "the ceilings of its sets");
  if (const auto can = within(policy.ceilings, most.host->least.price_per_hour, INT32_MAX);
      can < count)
    return refuse(Errc::kInvalidArgument, can, "the ceilings of the site");
  const auto limits = demand::Allowance::of(policy.quotas.of(principal)).values();
  const auto each = most.host->least.values();
  constexpr std::array kLimits{"the limits of running_price_per_hour_max of ",
                               "the vcpus of running_vcpus_max of ",
                               "the gpus of running_gpus_max of "};
  for (std::size_t i = 0; i < limits.size(); ++i)
    if (limits[i] && each[i] > 0 && *limits[i] / each[i] < count)
      return refuse(Errc::kOverQuota, *limits[i] / each[i], kLimits[i] + principal);
  return {};
}

}  // namespace

Result<void> check_gang(const model::WorkShape& shape, const std::string& principal,
                        const std::vector<scheduler::Offering>& offerings,
                        const model::SitePolicy& policy) {
  Result<void> out;  // If nothing fits one of its leases, the check of those says more.
  for (const auto& [zone, most] : most_of(shape, offerings, policy)) {
    out = check_most(most, shape.gang, principal, policy);
    if (out) break;
  }
  return out;
}

}  // namespace hostler::dispatch
