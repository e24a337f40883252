#include <algorithm>

#include "core/base/units.h"
#include "core/config/readers.h"
#include "core/model/ceilings.h"

namespace hostler::config {
namespace {

/// A hold that ends before a pool gives a host up changes nothing for the hosts of that pool.
void warn_of_holds(const model::SitePolicy& site, std::vector<std::string>& out) {
  for (const model::SetPolicy& set : site.sets)
    for (const model::PoolPolicy& pool : site.pools) {
      if (std::ranges::find(pool.sets, set.name) == pool.sets.end()) continue;
      if (set.mass_unreachable_hold > pool.probe_timeout) continue;
      out.push_back("sets: \"" + set.name + "\" has mass_unreachable_hold " +
                    exact_duration(set.mass_unreachable_hold) +
                    ", which is not longer than the probe_timeout " +
                    exact_duration(pool.probe_timeout) + " of pool \"" + pool.name +
                    "\", so it protects none of its hosts");
    }
}

/// A quota for a token that does not exist holds back nobody.
void warn_of_quotas(const Config& config, std::vector<std::string>& out) {
  const auto& tokens = config.access.tokens;
  for (const auto& named : config.site.quotas.principals) {
    const std::string& name = named.first;
    const bool known = std::ranges::any_of(
        tokens, [&](const Token& token) { return "token " + token.name == name; });
    if (name.starts_with("token ") && !tokens.empty() && !known)
      out.push_back("quotas: there is no token \"" + name.substr(6) + "\"");
  }
}

/// The instances that a pool keeps in any case, switched on or off.
std::int32_t least_of(const model::PoolSizes& sizes) {
  return std::max(sizes.min, sizes.created_min.value_or(0));
}

/// A ceiling may forbid what a pool keeps.
void warn_of_min(const model::SitePolicy& site, std::vector<std::string>& out) {
  for (const model::PoolPolicy& pool : site.pools) {
    const auto warn = [&](const std::string& key, std::int64_t max) {
      const std::int32_t least = least_of(pool.sizes);
      if (least > max)
        out.push_back("pools: \"" + pool.name + "\" has " +
                      (least == pool.sizes.min ? "min " : "created_min ") + std::to_string(least) +
                      ", which is above " + key + " " + std::to_string(max));
    };
    if (pool.ceilings.instances_max != 0)
      warn("its ceilings.instances_max", pool.ceilings.instances_max);
    if (const auto sets_max = model::host_ceilings(site, pool).sets; sets_max != 0)
      warn("what ceilings.instances_max of its sets allow together,", sets_max);
  }
}

/// Such a pool switches its hosts off in place of ending them.
void warn_of_kept(const model::SitePolicy& site, std::vector<std::string>& out) {
  for (const model::PoolPolicy& pool : site.pools) {
    const model::PoolSizes& sizes = pool.sizes;
    const bool has_min = sizes.created_min || !sizes.texts.created_min.empty();
    const bool has_max = sizes.created_max || !sizes.texts.created_max.empty();
    if (has_min && !has_max)
      out.push_back("pools: \"" + pool.name +
                    "\" has created_min and no created_max, so hosts are switched off and never "
                    "destroyed");
  }
}

/// Warns of keys that only an agent, or only a connection, can follow.
void warn_of_readiness(const model::SitePolicy& site, std::vector<std::string>& out) {
  for (const model::PoolPolicy& pool : site.pools) {
    const std::string of =
        "pools: \"" + pool.name + "\" has readiness " + to_string(pool.readiness) + ", so ";
    const bool is_sent_to = model::needs_link(pool.readiness);
    if (!is_sent_to) out.push_back(of + "nobody proves its hosts, and nothing is sent to them");
    std::string idle;
    const auto look = [&](const char* key, bool is_set) {
      if (is_set) idle += (idle.empty() ? "" : ", ") + std::string(key);
    };
    look("boot_probe", !is_sent_to && pool.boot_probe != "true");
    const bool has_agent = pool.readiness == model::Readiness::kAgent;
    look("broken_checks", !has_agent && !pool.broken_checks.empty());
    look("gpu_command", !has_agent && !pool.gpu_command.empty());
    look("interruption_check", !has_agent && !pool.interruption_check.command.empty());
    look("interruption_command", !has_agent && !pool.interruption_command.empty());
    if (!idle.empty()) out.push_back(of + "these of its keys have no effect: " + idle);
  }
}

}  // namespace

std::vector<std::string> warnings_of(const Config& config) {
  std::vector<std::string> out;
  const model::SitePolicy& site = config.site;
  const auto in_a_pool = [&](const std::string& name, auto member) {
    return std::ranges::any_of(site.pools, [&](const model::PoolPolicy& pool) {
      return std::ranges::find(pool.*member, name) != (pool.*member).end();
    });
  };
  std::int64_t wanted = 0;
  for (const model::PoolPolicy& pool : site.pools)
    wanted += std::int64_t{std::max(least_of(pool.sizes), pool.sizes.standby)} + pool.sizes.stopped;

  if (site.pools.empty()) out.emplace_back("pools: there are none, so no jobs can run");
  for (const model::InstanceType& type : site.types)
    if (!in_a_pool(type.name, &model::PoolPolicy::types))
      out.push_back("types: no pool uses \"" + type.name + "\"");
  for (const model::SetPolicy& set : site.sets)
    if (!in_a_pool(set.name, &model::PoolPolicy::sets))
      out.push_back("sets: no pool uses \"" + set.name + "\"");
  for (const model::PoolPolicy& pool : site.pools)
    if (pool.sizes.max == 0 && pool.sizes.texts.max.empty() && !pool.sizes.created_min)
      out.push_back("pools: \"" + pool.name + "\" has max 0, so it never gets an instance");
  for (const model::PoolPolicy& pool : site.pools)
    if (pool.init_failure == model::InitFailure::kWarn && !model::runs_at_boot(pool))
      out.push_back("pools: \"" + pool.name +
                    "\" has init_failure, but no init_command or boot_files that could fail");
  warn_of_holds(site, out);
  warn_of_quotas(config, out);
  warn_of_min(site, out);
  warn_of_kept(site, out);
  warn_of_readiness(site, out);
  if (site.ceilings.instances_max != 0 && wanted > site.ceilings.instances_max)
    out.push_back("ceilings.instances_max: " + std::to_string(site.ceilings.instances_max) +
                  " is less than the " + std::to_string(wanted) +
                  " instances that min, created_min, standby and stopped of the pools require");
  return out;
}

}  // namespace hostler::config
