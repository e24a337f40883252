#include "core/api/route_table.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::api {
namespace {

/// A scaler has rights on the pools of its token only.
Result<void> check_pool(const Principal& who, const std::string& pool) {
  if (std::ranges::find(who.pools, pool) != who.pools.end()) return {};
  return fail(Errc::kForbidden, who.name + " has no right on the pool '" + printable(pool, 63) +
                                    "': it is not in the pools of the token");
}

}  // namespace

const std::vector<Route>& routes() {
  constexpr Role kRead = Role::kRead, kSubmit = Role::kSubmit, kAdmin = Role::kAdmin,
                 kScaler = Role::kScaler;
  static const std::vector<Route> table{
      {"GET", {"health"}, {}, get_health},
      {"GET", {"metrics"}, kRead, get_metrics},
      {"GET", {"v1", "openapi.json"}, kRead, get_openapi},
      {"GET", {"v1", "backup"}, kAdmin, get_backup},
      {"POST", {"v1", "jobs"}, kSubmit, post_jobs},
      {"POST", {"v1", "dry-run"}, kSubmit, post_dry_run},
      {"GET", {"v1", "jobs"}, kRead, get_jobs, {"state", "name", "principal", "limit", "before"}},
      {"GET", {"v1", "jobs", "*"}, kRead, get_job},
      {"POST", {"v1", "jobs", "*", "cancel"}, kSubmit, post_cancel},
      {"POST", {"v1", "jobs", "*", "release"}, kAdmin, post_release},
      {"POST", {"v1", "leases"}, kSubmit, post_lease},
      {"POST", {"v1", "leases", "dry-run"}, kSubmit, post_dry_run_lease},
      {"GET",
       {"v1", "leases"},
       kRead,
       get_leases,
       {"state", "name", "principal", "limit", "before"}},
      {"GET", {"v1", "leases", "*"}, kRead, get_lease},
      {"POST", {"v1", "leases", "*", "return"}, kSubmit, post_return},
      {"POST", {"v1", "leases", "*", "renew"}, kSubmit, post_renew},
      {"POST", {"v1", "leases", "*", "cancel"}, kSubmit, post_cancel},
      {"POST", {"v1", "leases", "*", "release"}, kAdmin, post_release},
      {"POST", {"v1", "held", "release"}, kAdmin, post_release_held},
      {"POST", {"v1", "held", "cancel"}, kAdmin, post_cancel_held},
      {"GET",
       {"v1", "jobs", "*", "output"},
       kSubmit,
       get_output,
       {"stream", "attempt", "offset", "max", "follow"}},
      {"GET", {"v1", "jobs", "*", "files"}, kSubmit, get_files},
      {"GET", {"v1", "jobs", "*", "files", "**"}, kSubmit, get_file, {"partial"}},
      {"DELETE", {"v1", "jobs", "*", "outputs"}, kSubmit, delete_outputs},
      {"POST", {"v1", "jobs", "*", "outputs", "give-up"}, kSubmit, post_give_up_output},
      {"GET", {"v1", "blobs", "*"}, kRead, get_blob},
      {"PUT", {"v1", "blobs", "*"}, kSubmit, put_blob},
      {"GET", {"v1", "instances"}, kRead, get_instances},
      {"GET", {"v1", "instances", "*", "console"}, kAdmin, get_console},
      {"POST", {"v1", "instances", "*", "hold"}, kAdmin, post_idle_behavior},
      {"POST", {"v1", "instances", "*", "drain"}, kAdmin, post_idle_behavior},
      {"POST", {"v1", "instances", "*", "run"}, kAdmin, post_idle_behavior},
      {"POST", {"v1", "instances", "*", "kill"}, kAdmin, post_kill},
      {"POST", {"v1", "instances", "*", "ready"}, kSubmit, post_ready},
      {"GET", {"v1", "pools"}, kRead, get_pools},
      {"GET", {"v1", "pools", "*", "scaling-info"}, kRead, get_scaling_info, {}, true},
      {"PUT", {"v1", "pools", "*", "scaling-info"}, kScaler, put_scaling_info, {}, true},
      {"GET", {"v1", "types"}, kRead, get_types},
      {"GET", {"v1", "sets"}, kRead, get_sets},
      {"POST", {"v1", "sets", "*", "accept-account"}, kAdmin, post_accept_account},
      {"POST", {"v1", "sets", "*", "believe"}, kAdmin, post_believe},
      {"POST", {"v1", "sets", "*", "give-up"}, kAdmin, post_give_up},
      {"GET", {"v1", "gates"}, kRead, get_gates},
      {"POST", {"v1", "gates", "open"}, kAdmin, post_open_gate},
      {"GET", {"v1", "prices"}, kRead, get_prices, {"limit", "set", "type"}},
      {"GET", {"v1", "cost"}, kRead, get_cost, {"by", "since", "until", "limit"}},
      {"GET", {"v1", "quotas"}, kRead, get_quotas, {"principal"}},
      {"GET", {"v1", "shares"}, kRead, get_shares},
      {"GET", {"v1", "why"}, kRead, get_why, {"subject"}},
      {"GET", {"v1", "plan"}, kAdmin, get_plan},
      {"GET", {"v1", "plan", "snapshot"}, kAdmin, get_plan_snapshot},
      {"GET", {"v1", "debug", "dump"}, kAdmin, get_dump},
      {"POST", {"v1", "config", "diff"}, kAdmin, post_config_diff},
      {"GET", {"v1", "events"}, kRead, get_events, {"after", "follow", "limit"}},
  };
  return table;
}

Result<void> check_role(const Route& route, const Request& request) {
  if (!route.role) return {};
  const Principal& who = request.who;
  if (who.role == Role::kScaler && route.for_scalers) return check_pool(who, request.path.at(2));
  if (*route.role == Role::kScaler && who.role == Role::kAdmin && who.on_socket) return {};
  return need_role(who, *route.role);
}

std::string pattern(const Route& route) {
  std::string out;
  for (const auto part : route.path) out += "/" + std::string(part);
  return out;
}

bool matches(const Route& route, const std::vector<std::string>& path) {
  const auto& pattern = route.path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "**") return path.size() > i;
    if (i >= path.size() || (pattern[i] != "*" && pattern[i] != path[i])) return false;
  }
  return pattern.size() == path.size();
}

}  // namespace hostler::api
