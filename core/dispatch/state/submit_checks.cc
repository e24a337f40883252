#include "core/dispatch/state/submit_checks.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/dispatch/state/gang_checks.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

Result<void> check_term(const model::PoolPolicy& pool, Duration term) {
  if (!pool.leases)
    return fail(Errc::kInvalidArgument,
                "pool " + pool.name + " does not lend hosts (pools[].leases)");
  if (term > pool.leases->max_term)
    return fail(Errc::kInvalidArgument, "pool " + pool.name + " lends hosts for at most " +
                                            format_duration(pool.leases->max_term));
  return {};
}

namespace {

bool has_login(const model::PoolPolicy& pool) {
  return pool.leases && pool.leases->login != model::Login::kNone;
}

/// Keys are for pools with a login, and those need some.
Result<void> check_login(const model::PoolPolicy& pool, const model::LeaseRecord& terms) {
  if (has_login(pool) == !terms.ssh_keys.empty()) return {};
  return fail(Errc::kInvalidArgument,
              has_login(pool)
                  ? "pool " + pool.name +
                        " lends hosts with a login: name the keys by which the "
                        "holder logs in (ssh_keys; hostler lease --ssh-key FILE)"
                  : "pool " + pool.name +
                        " lends hosts without a login: ask without keys (ssh_keys; hostler "
                        "lease without --ssh and --ssh-key), or for a host of a pool "
                        "with a login");
}

/// Tells whoever has named another pool which pools lend hosts.
std::string those_that_lend(const model::SitePolicy& policy) {
  std::string out;
  for (const auto& pool : policy.pools)
    if (pool.leases) out += (out.empty() ? "; pools that lend hosts: " : ", ") + pool.name;
  return printable(out, 300);
}

}  // namespace

Result<Submit> SubmitChecks::as_submit(const SubmitLease& event) const {
  Submit out{.ticket = event.ticket, .principal = event.principal, .work = {event.work}};
  model::WorkItem& item = out.work.front();
  item.record.id.kind = model::WorkKind::kLease;
  item.shape.exclusive = true;
  auto& pools = item.shape.constraints.pools;
  pools = HOSTLER_TRY(pools_that_lend(pools, event.lease));
  const std::uint32_t count = item.shape.gang.count;
  if (count > 0) HOSTLER_TRY(check_gang(item.shape, event.principal, menu_.offerings(), policy_));
  for (std::uint32_t i = 1; i < count; ++i) {
    out.work.push_back(out.work.front());
    out.work.back().client_key.clear();  // That of the first names them all.
    out.work.back().client_digest.clear();
  }
  return out;
}

Result<std::vector<std::string>> SubmitChecks::pools_that_lend(
    const std::vector<std::string>& named, const model::LeaseRecord& terms) const {
  std::vector<std::string> out;
  std::optional<Error> why;  // From the pool with the longest term among those that fit best.
  Duration longest{};
  for (const auto& pool : policy_.pools) {
    if (!named.empty() && pool.name != named.front()) continue;
    auto lends = check_term(pool, terms.term);
    if (pool.leases)
      if (auto login = check_login(pool, terms); !login) lends = std::move(login);
    if (lends)
      out.push_back(pool.name);
    else if (!named.empty())
      return fail(lends.error().code,
                  lends.error().message + (pool.leases ? std::string() : those_that_lend(policy_)));
    const bool is_alike = has_login(pool) == !terms.ssh_keys.empty();
    if (lends || !pool.leases || (why && (!is_alike || pool.leases->max_term <= longest))) continue;
    why = lends.error();
    longest = is_alike ? pool.leases->max_term : Duration{};
  }
  if (!out.empty()) return out;
  if (!named.empty())
    return fail(Errc::kInvalidArgument,
                "there is no pool '" + printable(named.front()) + "'" + those_that_lend(policy_));
  if (why) return tl::unexpected(*std::move(why));
  return fail(Errc::kInvalidArgument, "no pool lends hosts (pools[].leases)");
}

/// The number of a job may have been given out already.
Result<void> SubmitChecks::check_numbers() const {
  if (const Set* set = sets_.with_doubted_rows())
    return fail(Errc::kUnavailable,
                "the state folder does not know these rows, and set " + set->name +
                    " was not listed yet: its instances show whether the rows are the newest ones");
  return {};
}

Result<void> SubmitChecks::check(const Submit& event, Mono now) const {
  HOSTLER_TRY(check_numbers());
  std::set<model::WorkShape> fits;
  std::map<std::string_view, std::size_t> keys;
  for (std::size_t i = 0; i < event.work.size(); ++i) {
    const model::WorkItem& item = event.work[i];
    const bool is_one_of_many =
        event.work.size() > 1 && item.record.id.kind == model::WorkKind::kJob;
    const std::string where = is_one_of_many ? "jobs[" + std::to_string(i) + "]: " : "";
    if (!fits.contains(item.shape)) {
      if (const auto good = check_shape(item, now); !good)
        return fail(good.error().code, where + good.error().message);
      fits.insert(item.shape);
    }
    if (item.client_key.empty()) continue;
    const auto conflict = [&](const std::string& problem) {
      return fail(Errc::kConflict, where + "client_key '" + item.client_key + "' " + problem);
    };
    if (const auto [same, fresh] = keys.try_emplace(item.client_key, i);
        !fresh && event.work[same->second].client_digest != item.client_digest)
      return conflict("is used twice in this submit");
    const auto* known = principals_.client_keys().find(event.principal, item.client_key);
    if (known != nullptr &&
        (known->digest != item.client_digest || known->work.kind != item.record.id.kind))
      return conflict("already names " + known->work.text() + ", which has another body");
  }
  return {};
}

/// "; set west does not say which types it offers: why". Empty: all sets that are asked say it.
std::string SubmitChecks::silent_sets() const {
  std::string out;
  for (const std::uint32_t set : offered_.asked()) {
    const std::string& name = policy_.sets[set].name;
    if (!offered_.is_unknown(name)) continue;
    const std::string& problem = offered_.find(name)->problem;
    out += "; set " + name + " does not say which types it offers" +
           (problem.empty() ? "" : ": " + problem);
  }
  return out;
}

Result<void> SubmitChecks::check_shape(const model::WorkItem& item, Mono now) const {
  const model::WorkShape& shape = item.shape;
  // Nobody knows yet which types there are: it waits for them. Not for ever, though: a set that
  // never answers would let all work in that nothing can run.
  for (const std::uint32_t set : offered_.asked())
    if (offered_.is_awaited(policy_.sets[set].name, now)) return {};
  const auto refuse = [&](const std::string& why) {
    const std::string silent = silent_sets();
    return fail(silent.empty() ? Errc::kInvalidArgument : Errc::kUnavailable, why + silent);
  };
  for (const auto& name : shape.constraints.types) {
    if (menu_.type_index(name)) continue;
    std::string all;
    for (const auto& type : policy_.types) all += (all.empty() ? "" : ", ") + type.name;
    return refuse("there is no instance type '" + name + "'; this site has " + all);
  }
  std::string nearest;
  if (scheduler::cheapest_fit(shape, menu_.offerings(), policy_, &nearest, item.record.id.kind))
    return {};
  const bool is_lease = item.record.id.kind == model::WorkKind::kLease;
  return refuse((is_lease ? "this site can never lend a host that has what it needs"
                          : "no instance type of this site can ever run it") +
                (nearest.empty() ? std::string() : "; nearest: " + nearest));
}

}  // namespace hostler::dispatch
