#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/cli/driver_site.h"
#include "core/cli/kit.h"
#include "core/config/load.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

/// The type that the options name, or the first one of the set's pools.
Result<model::InstanceType> type_for(const config::Config& config, const CloudTestOptions& o) {
  std::string name = o.type;
  for (const auto& pool : config.site.pools)
    if (name.empty() && !pool.types.empty() &&
        std::find(pool.sets.begin(), pool.sets.end(), o.set) != pool.sets.end())
      name = pool.types.front();
  for (const auto& type : config.site.types)
    if (type.name == name) return type;
  return fail(Errc::kNotFound, name.empty() ? "no pool of set '" + o.set + "' names a type: --type"
                                            : "there is no type '" + name + "'");
}

/// What driver-check.json would say of the set.
std::string settings_of(const config::Set& set, const model::InstanceType& type) {
  std::string out;
  json::Writer w(out);
  w.begin_object().key("config").raw(set.config_json).member("test_cloud", false);
  if (!set.credentials_json.empty()) w.key("credentials").raw(set.credentials_json);
  if (!type.image_id.empty()) w.member("image_id", type.image_id);
  w.key("type").begin_object().member("provider_type", type.provider_type);
  w.member("vcpus", std::max<std::int64_t>(type.resources.vcpus.whole(), 1));
  w.member("ram", std::to_string(std::max<std::int64_t>(type.resources.ram, 1)) + "B");
  w.key("provider_params").raw(type.provider_params_json).end_object().end_object();
  return out;
}

Result<int> run_on_set(const CloudTestOptions& o) {
  const auto config = HOSTLER_TRY(config::load(o.config));
  const auto set = std::find_if(config.sets.begin(), config.sets.end(),
                                [&](const config::Set& one) { return one.name == o.set; });
  if (set == config.sets.end())
    return fail(Errc::kNotFound, o.config + " has no set '" + o.set + "'");
  const auto type = HOSTLER_TRY(type_for(config, o));
  const DriverSite site = site_of(config);
  const auto found = find_drivers(site);
  const auto driver = HOSTLER_TRY(found.find(set->driver));
  HOSTLER_TRY(check_driver(driver, site));
  // Credentials are in no argument and in no file.
  const int settings = ::memfd_create("driver-check.json", 0);  // inherited: the kit reads it
  HOSTLER_TRY(write_all(settings, settings_of(*set, type), "the kit's settings"));
  std::vector<std::string> words{"--live", "--only", "live.*", "--config",
                                 "/proc/self/fd/" + std::to_string(settings)};
  if (!o.budget.empty()) words.insert(words.end(), {"--budget", o.budget});
  if (!o.format.empty()) words.insert(words.end(), {"--format", o.format});
  words.insert(words.end(), {"--", driver.resolved().string()});
  return run_kit(std::move(words));
}

}  // namespace

int cloudtest(const CloudTestOptions& options) {
  const auto status = run_on_set(options);
  return status ? *status : complain(status.error());
}

}  // namespace hostler::cli
