#include "core/cli/driver_site.h"

#include "core/cli/program.h"
#include "core/plugin_host/driver_library.h"

namespace hostler::cli {

DriverSite site_of(const config::Config& config) {
  return {.folders = plugin_host::search_order(config.driver_path, program_folder()),
          .rules = {.state_dir = config.state_dir, .trusted = config.trusted_drivers}};
}

plugin_host::Discovery find_drivers(const DriverSite& site) {
  return plugin_host::discover(plugin_host::paths_of(site.folders), site.rules);
}

Result<void> check_driver(const plugin_host::Manifest& driver, const DriverSite& site) {
  return plugin_host::check_library(driver, site.rules).map([](const auto&) {});
}

}  // namespace hostler::cli
