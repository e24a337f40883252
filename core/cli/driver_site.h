#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/plugin_host/discovery.h"

namespace hostler::cli {

/// Where a site's drivers are looked for, and which of them it takes.
struct DriverSite {
  std::vector<plugin_host::SearchedFolder> folders;
  plugin_host::DriverRules rules;
};

/// Where the hostlerd beside this program looks for drivers. Looks at this environment: that of the
/// daemon may have another HOSTLER_DRIVER_PATH.
DriverSite site_of(const config::Config& config);
plugin_host::Discovery find_drivers(const DriverSite& site);
/// Fails as hostlerd does before it loads the driver; runs none of its code.
Result<void> check_driver(const plugin_host::Manifest& driver, const DriverSite& site);

}  // namespace hostler::cli
