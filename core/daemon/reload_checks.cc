#include "core/daemon/reload_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/daemon/clouds.h"
#include "core/daemon/loop.h"
#include "core/log/log.h"

namespace hostler::daemon {

Result<void> check_set_configs(const config::Config& old, const config::Config& fresh,
                               const Clouds& clouds) {
  for (std::size_t i = 0; i < fresh.sets.size(); ++i) {
    const auto& set = fresh.sets[i];
    const auto before = std::ranges::find(old.sets, set.name, &config::Set::name);
    if (before != old.sets.end() && before->config_json == set.config_json) continue;
    if (auto good = clouds.check_config(set.driver, set.config_json); !good)
      return tl::unexpected(
          std::move(good).error().with_context("sets[" + std::to_string(i) + "].config"));
  }
  return {};
}

void warn_of_dropped_types(const model::SitePolicy& old, const model::SitePolicy& fresh,
                           Loop& loop) {
  std::set<std::string> dropped;
  for (const auto& type : old.types)
    if (std::ranges::find(fresh.types, type.name, &model::InstanceType::name) == fresh.types.end())
      dropped.insert(type.name);
  if (dropped.empty()) return;
  loop.query([dropped](const dispatch::Queries& state, Now now) {
    std::map<std::string, std::size_t> in_use;
    for (const auto& instance : state.instances(now))
      if (dropped.contains(instance.record.type)) ++in_use[instance.record.type];
    for (const auto& [type, count] : in_use)
      log::warn("config", "type \"" + type + "\" is not in the new configuration, and " +
                              std::to_string(count) + " instances are of it");
  });
}

}  // namespace hostler::daemon
