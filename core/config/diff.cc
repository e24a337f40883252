#include "core/config/diff.h"

#include <algorithm>

namespace hostler::config {
namespace {

template <class Named>
bool keeps_order(const std::vector<Named>& old, const std::vector<Named>& fresh) {
  return old.size() <= fresh.size() &&
         std::equal(old.begin(), old.end(), fresh.begin(),
                    [](const Named& a, const Named& b) { return a.name == b.name; });
}

void compare_access(const Access& old, Access fresh, Diff& out) {
  if (old.tokens != fresh.tokens)
    out.live.push_back({.path = "access.tcp.tokens_file", .part = "its content"});
  fresh.tokens = old.tokens;
  if (old == fresh) return;
  Access tcp = fresh;
  tcp.socket_path = old.socket_path;
  tcp.socket_mode = old.socket_mode;
  tcp.socket_group = old.socket_group;
  if (tcp != old) out.restart.push_back({"access.tcp"});
  if (tcp != fresh) out.restart.push_back({"access.socket"});
}

void compare_sets(const Config& old, const Config& fresh, Diff& out) {
  if (old.sets.size() != fresh.sets.size() || !keeps_order(old.sets, fresh.sets)) {
    out.restart.push_back({.path = "sets", .part = "added, removed or in another order"});
    return;
  }
  for (std::size_t i = 0; i < old.sets.size(); ++i) {
    const std::string& name = old.sets[i].name;
    Set same_driver = fresh.sets[i];
    same_driver.config_json = old.sets[i].config_json;
    same_driver.credentials = old.sets[i].credentials;
    same_driver.credentials_json = old.sets[i].credentials_json;
    if (same_driver != old.sets[i])
      out.restart.push_back({"sets", name, "driver, sandbox, keys, proxy, escalate or record"});
    if (same_driver != fresh.sets[i]) out.live.push_back({"sets", name, "config or credentials"});
    if (old.site.sets[i] != fresh.site.sets[i]) out.live.push_back({"sets", name});
  }
}

void compare_pools(const Config& old, const Config& fresh, Diff& out) {
  if (!keeps_order(old.site.pools, fresh.site.pools)) {
    out.restart.push_back({.path = "pools", .part = "removed or in another order"});
    return;
  }
  for (std::size_t i = 0; i < fresh.site.pools.size(); ++i) {
    const model::PoolPolicy& pool = fresh.site.pools[i];
    if (i >= old.site.pools.size()) {
      out.live.push_back({"pools", pool.name});
      continue;
    }
    model::PoolPolicy same = pool;
    same.readiness = old.site.pools[i].readiness;
    if (same != pool) out.restart.push_back({"pools", pool.name, "readiness"});
    if (same != old.site.pools[i]) out.live.push_back({"pools", pool.name});
  }
}

}  // namespace

std::string to_string(const DiffKey& key) {
  std::string out = key.path;
  if (!key.name.empty()) out += " \"" + key.name + '"';
  if (!key.part.empty()) out += " (" + key.part + ')';
  return out;
}

Diff diff(const Config& old, const Config& fresh) {
  Diff out;
  const auto compare = [](std::vector<DiffKey>& to, const char* path, const auto& a,
                          const auto& b) {
    if (!(a == b)) to.push_back({path});
  };
  compare(out.restart, "state_dir", old.state_dir, fresh.state_dir);
  compare(out.restart, "disk_reserve", old.disk_reserve, fresh.disk_reserve);
  compare(out.restart, "store", old.postgres, fresh.postgres);
  compare(out.restart, "driver_path", old.driver_path, fresh.driver_path);
  compare(out.live, "driver_sha256", old.trusted_drivers.sha256, fresh.trusted_drivers.sha256);
  compare(out.live, "driver_trust", old.trusted_drivers.trust, fresh.trusted_drivers.trust);
  compare(out.live, "driver_keys", old.trusted_drivers.keys, fresh.trusted_drivers.keys);
  compare(out.restart, "sandbox_min", old.sandbox_min, fresh.sandbox_min);
  compare_access(old.access, fresh.access, out);
  compare_sets(old, fresh, out);
  compare_pools(old, fresh, out);
  if (old.site.metrics != fresh.site.metrics || old.metric_sources != fresh.metric_sources)
    out.live.push_back({"metrics"});
  compare(out.live, "types", old.site.types, fresh.site.types);
  compare(out.live, "currency", old.site.currency, fresh.site.currency);
  compare(out.live, "exchange_rates", old.site.exchange_rates, fresh.site.exchange_rates);
  compare(out.live, "ceilings", old.site.ceilings, fresh.site.ceilings);
  compare(out.live, "quotas", old.site.quotas, fresh.site.quotas);
  compare(out.live, "scheduler.plan_interval", old.site.plan_interval, fresh.site.plan_interval);
  compare(out.live, "scheduler.abandoned_for", old.site.abandoned_for, fresh.site.abandoned_for);
  compare(out.live, "scheduler.fair_share", old.site.half_life, fresh.site.half_life);
  compare(out.restart, "agent", old.agent, fresh.agent);
  compare(out.restart, "limits", old.limits, fresh.limits);
  compare(out.live, "ledger_keep", old.ledger_keep, fresh.ledger_keep);
  compare(out.live, "log.level", old.log_level, fresh.log_level);
  return out;
}

}  // namespace hostler::config
