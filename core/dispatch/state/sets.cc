#include "core/dispatch/state/sets.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

// A list is of a whole set, so it is not asked for at each change of one instance. Two lists fit in
// the default shutdown_timeout: an instance that is not known to be gone by then is destroyed
// again, and it takes two lists to know.
constexpr Duration kPausePerInstance = std::chrono::milliseconds(2);
constexpr Duration kPauseMax = std::chrono::seconds(4);

/// "38 s"
std::string seconds_since(Mono since, Mono now) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - since).count()) +
         " s";
}

/// New hosts that could not be reached during a partition, before creates stop.
constexpr std::uint32_t kUnreachedBootsMax = 3;

}  // namespace

void Set::want_list(const model::SetPolicy& policy, Mono at) {
  lists.want(
      at, std::max(std::min(info.list_interval_min, kAskedPauseMax),
                   std::min({policy.list_interval, kPauseMax, kPausePerInstance * shown.count})));
}

void Set::want_list_at_once(const model::SetPolicy& policy, Mono now) {
  lists.end_asked_pause();
  want_list(policy, now);
}

bool Set::list_succeeded(const model::SetPolicy& policy, Mono sent, Mono now) {
  const Duration asked = std::min(info.list_interval_min, kAskedPauseMax);
  return lists.succeeded(sent, std::max(policy.list_interval, asked), now);
}

void Set::list_failed(const model::SetPolicy& policy, std::optional<Duration> asked, Mono now) {
  const Duration pause = lists.failed(asked, now);
  want_list(policy, now + pause);
}

std::array<Timer, 8> Set::timers() const {
  const auto if_open = [&](Mono at) { return is_open() ? at : fleet::kNever; };
  return {{{opening.next(), "open"},
           {lists.overdue_at(), "list_overdue"},
           {if_open(in_hand ? Mono{} : fleet::kNever), "list_slice"},
           {if_open(strangers.next()), "adoption_slice"},
           {if_open(in_hand || strangers.is_adopting() ? fleet::kNever : lists.next()), "list"},
           {if_open(look_ups.next()), "look_up"},
           {if_open(omissions.patience_ends()), "list_doubt_patience"},
           {if_open(quota_groups.next()), "quota_group"}}};
}

std::string Set::without_list(Mono now) const {
  return lists.is_overdue() ? "no list for " + seconds_since(lists.good_at(), now) : "";
}

std::string Set::refuses_creates(Mono now) const {
  if (!is_open()) {
    if (!problem.empty()) return "the set is not open: " + problem;
    if (!opening.is_under_way()) return "the set is not open";
    return "the set is not open: its driver was asked " + seconds_since(opening.sent_at(), now) +
           " ago";
  }
  if (is_stopped()) return first_list.later;
  if (shown.foreign) return problem;
  if (!lists.suspended().empty()) return "the set is suspended: " + lists.suspended();
  if (lists.is_overdue())
    return without_list(now) + " of set " + name + ": what is created might never be seen";
  if (first_list.holds_creates)
    return "its first list is still to come, which may show instances made since the backup";
  if (!strangers.left().empty()) return strangers.refuses_creates(name);
  if (omissions.awaits_answers())
    return "the last list omits " + std::to_string(omissions.instances().size()) +
           " instances: the cloud is asked for each of them first";
  if (reach.partition && reach.partition->boots_failed.size() >= kUnreachedBootsMax)
    return "hosts of the set are unreachable, and so are " +
           std::to_string(reach.partition->boots_failed.size()) + " new ones";
  return {};
}

std::string Set::refuses_market(model::Market market) const {
  if (!is_open() || market != model::Market::kSpot || info.spot) return {};
  return "the driver of set " + name + " has no spot instances on this account";
}

std::string Set::refuses_pool(const model::PoolPolicy& pool) const {
  using enum model::VerifyMethod;
  if (!is_open()) return {};
  if (!pool.cloud_config->empty() && !(info.user_data && info.user_data_mime))
    return "the driver of set " + name + " takes no user data for cloud-init: pool " + pool.name +
           " can have no cloud_config there";
  if (info.user_data) return {};
  const std::string takes_none =
      "the driver of set " + name + " takes no user data: pool " + pool.name;
  if (model::runs_at_boot(pool))
    return takes_none + " can have no init_command and no boot_files there";
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
  if (first_list.rows_end || is_stopped()) return true;
  const auto& doubt = omissions.doubt();
  if (omissions.awaits_answers() || (doubt && doubt->is_asking() && instance.listing.absence()))
    return true;
  return reach.partition && instance.link.unreachable_since();
}

Sets::Sets(const model::SitePolicy& policy) {
  for (const auto& set : policy.sets) sets_.emplace_back().name = set.name;
}

const Set* Sets::with_doubted_rows() const {
  const auto it = std::ranges::find_if(
      sets_, [](const Set& one) { return one.first_list.rows_end.has_value(); });
  return it == sets_.end() ? nullptr : &*it;
}

void Sets::restore(const std::vector<model::SetAccount>& accounts,
                   const std::vector<model::DamagedRow>& damaged) {
  for (const auto& account : accounts)
    if (const auto set = index_of(account.set)) at(*set).account.restore(account);
  for (const auto& row : damaged) {
    if (row.table != "sets") continue;
    if (const auto set = index_of(row.key)) {
      at(*set).account.restore_damaged();
    } else if (!is_name(row.key)) {
      // It may be the row of any set that has none.
      for (Set& any : sets_)
        if (any.account.stored().set.empty()) any.account.restore_damaged();
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
  return type.quota_group.empty() ? at(set).quota_groups.of(type) : type.quota_group;
}

bool Sets::has_power(std::uint32_t set, model::Market market) const {
  const auto& info = at(set).info;
  // A cloud takes a spot instance back when it is stopped.
  return info.stop && info.has_power && market == model::Market::kOnDemand;
}

}  // namespace hostler::dispatch
