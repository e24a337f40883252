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

/// What driver-check.json would say: the kit reads the configuration as hostlerd does.
std::string settings_of(const CloudTestOptions& o) {
  std::string out;
  json::Writer w(out);
  w.begin_object().key("site").begin_object();
  w.member("config", std::filesystem::absolute(o.config).string()).member("set", o.set);
  if (!o.type.empty()) w.member("type", o.type);
  w.end_object().end_object();
  return out;
}

Result<int> run_on_set(const CloudTestOptions& o) {
  const auto config = HOSTLER_TRY(config::load(o.config));
  const auto set = std::find_if(config.sets.begin(), config.sets.end(),
                                [&](const config::Set& one) { return one.name == o.set; });
  if (set == config.sets.end())
    return fail(Errc::kNotFound, o.config + " has no set '" + o.set + "'");
  const DriverSite site = site_of(config);
  const auto found = find_drivers(site);
  const auto driver = HOSTLER_TRY(found.find(set->driver));
  HOSTLER_TRY(check_driver(driver, site));
  const int settings = ::memfd_create("driver-check.json", 0);  // inherited: the kit reads it
  HOSTLER_TRY(write_all(settings, settings_of(o), "the kit's settings"));
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
