#include "core/dispatch/state/sets.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

// A list is of a whole set, so it is not asked for at each change of one instance. Two lists fit in
// the default shutdown_timeout: an instance that is not known to be gone by then is destroyed
// again, and it takes two lists to know.
constexpr Duration kPausePerInstance = std::chrono::milliseconds(2);
constexpr Duration kPauseMax = std::chrono::seconds(4);

/// New hosts that could not be reached during a partition, before creates stop.
constexpr std::uint32_t kUnreachedBootsMax = 3;

}  // namespace

void Set::want_list(const model::SetPolicy& policy, Mono at) {
  const Duration pause =
      std::max(std::min(info.list_interval_min, kAskedPauseMax),
               std::min({policy.list_interval, kPauseMax, kPausePerInstance * listed}));
  list_at = std::min(list_at, std::max({at, list_sent + pause, list_not_before}));
}

void Set::want_list_at_once(const model::SetPolicy& policy, Mono now) {
  list_not_before = Mono::min();
  want_list(policy, now);
}

void Set::list_failed(const model::SetPolicy& policy, std::optional<Duration> asked, Mono now) {
  ++failures;
  if (asked) list_not_before = now + std::min(*asked, kAskedPauseMax);
  const Duration pause = fleet::backoff(failures, std::chrono::seconds(1), std::chrono::minutes(1));
  want_list(policy, now + pause);
}

Mono Set::next_wake() const {
  if (!open) return opening ? fleet::kNever : open_at;
  Mono next = std::min(prices_at, groups_at);
  if (!listing) next = std::min(next, list_at);
  if (!look_ups.under_way && !look_ups.to_send.empty()) next = std::min(next, look_ups.not_before);
  if (doubt && doubt->asking && !doubt->unchecked) next = std::min(next, doubt->patience_ends);
  return next;
}

std::string Set::refuses_creates() const {
  if (!open) return "the set is not open" + (problem.empty() ? "" : ": " + problem);
  if (foreign) return problem;
  if (!suspended.empty()) return "the set is suspended: " + suspended;
  if (unlisted)
    return "its first list is still to come, which may show instances made since the backup";
  if (doubt && doubt->asking && !doubt->unchecked)
    return "the last list omits " + std::to_string(missing.size()) +
           " instances: the cloud is asked for each of them first";
  if (reach.partition && reach.partition->boots_failed.size() >= kUnreachedBootsMax)
    return "hosts of the set are unreachable, and so are " +
           std::to_string(reach.partition->boots_failed.size()) + " new ones";
  return {};
}

std::string Set::refuses_market(model::Market market) const {
  if (!open || market != model::Market::kSpot || info.spot) return {};
  return "the driver of set " + name + " has no spot instances on this account";
}

std::string Set::refuses_pool(const model::PoolPolicy& pool) const {
  using enum model::VerifyMethod;
  if (!open || info.user_data) return {};
  const std::string takes_none =
      "the driver of set " + name + " takes no user data: pool " + pool.name;
  if (!pool.init_command.empty()) return takes_none + " can have no init_command there";
  const auto accepts = [&](model::VerifyMethod method) {
    return std::ranges::find(pool.verify, method) != pool.verify.end();
  };
  const bool knows_keys = info.has_host_key_extension || info.has_console;
  const bool by_driver = knows_keys && accepts(kDriver);
  const bool by_key = info.host_key_inject && accepts(kDelivered);
  if (by_driver || by_key) return {};
  if (knows_keys) return takes_none + " must have `driver` among its `verify`";
  if (info.host_key_inject) return takes_none + " must have `delivered` among its `verify`";
  return takes_none + " cannot verify hosts there, as the driver knows no host keys either";
}

bool Set::spares(const fleet::Instance& instance) const {
  if (untouched) return true;
  if (doubt && doubt->asking && (!doubt->unchecked || instance.listing.absence())) return true;
  return reach.partition && instance.link.unreachable_since();
}

Sets::Sets(const model::SitePolicy& policy) {
  for (const auto& set : policy.sets) sets_.emplace_back().name = set.name;
}

void Sets::restore(const std::vector<model::SetAccount>& accounts,
                   const std::vector<model::DamagedRow>& damaged) {
  for (const auto& account : accounts)
    if (const auto set = index_of(account.set)) at(*set).account = account;
  for (const auto& row : damaged) {
    if (row.table != "sets") continue;
    if (const auto set = index_of(row.key)) {
      at(*set).account_damaged = true;
    } else if (!is_name(row.key)) {
      // It may be the row of any set that has none.
      for (Set& any : sets_) any.account_damaged |= any.account.set.empty();
    }
  }
}

std::optional<std::uint32_t> Sets::index_of(const std::string& name) const {
  const auto found = std::ranges::find(sets_, name, &Set::name);
  if (found == sets_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - sets_.begin());
}

Mono Sets::next_wake() const {
  Mono next = fleet::kNever;
  for (const Set& set : sets_) next = std::min(next, set.next_wake());
  return next;
}

const std::string& Sets::quota_group(std::uint32_t set, const model::InstanceType& type) const {
  static const std::string kNone;
  if (!type.quota_group.empty()) return type.quota_group;
  const auto& groups = at(set).quota_groups;
  const auto found = groups.find(type.name);
  return found != groups.end() && model::is_same_kind(found->second.asked_about, type)
             ? found->second.name
             : kNone;
}

bool Sets::has_power(std::uint32_t set, model::Market market) const {
  const auto& info = at(set).info;
  // A cloud takes a spot instance back when it is stopped.
  return info.stop && info.has_power && market == model::Market::kOnDemand;
}

}  // namespace hostler::dispatch
