#include "sdk/check/site.h"

#include <algorithm>

#include "core/config/load.h"

namespace hostler::check {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The first pool of the set that names the type that is asked for, or any; else, for a type that
/// is asked for, the first that chooses its types by their properties.
Result<const model::PoolPolicy*> pool_of(const model::SitePolicy& site, const SiteName& name) {
  const model::PoolPolicy* chooses = nullptr;
  for (const auto& pool : site.pools) {
    if (!has(pool.sets, name.set)) continue;
    if (name.type.empty() ? !pool.types.empty() : has(pool.types, name.type)) return &pool;
    if (chooses == nullptr && pool.types.empty()) chooses = &pool;
  }
  if (!name.type.empty() && chooses != nullptr) return chooses;
  return fail(Errc::kNotFound,
              name.type.empty()
                  ? "no pool of set '" + name.set + "' names a type: give one by --type"
                  : "no pool of set '" + name.set + "' has the type '" + name.type + "'");
}

}  // namespace

Result<Site> read_site(const SiteName& name) {
  const auto config = HOSTLER_TRY(config::load(name.config));
  const auto set = std::ranges::find(config.sets, name.set, &config::Set::name);
  if (set == config.sets.end())
    return fail(Errc::kNotFound, name.config + " has no set '" + name.set + "'");
  const model::PoolPolicy* const pool = HOSTLER_TRY(pool_of(config.site, name));
  const std::string& type_name = name.type.empty() ? pool->types.front() : name.type;
  const auto type = std::ranges::find(config.site.types, type_name, &model::InstanceType::name);
  if (type == config.site.types.end())
    return fail(Errc::kNotFound, "there is no type '" + type_name + "'");
  return Site{.policy = config.site,
              .set = config.site.sets[static_cast<std::size_t>(set - config.sets.begin())],
              .pool = *pool,
              .type = *type,
              .config_json = set->config_json,
              .credentials_json = set->credentials_json,
              .user_keys = set->user_keys,
              .proxy = set->proxy};
}

}  // namespace hostler::check
