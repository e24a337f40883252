#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/model/policy.h"

namespace hostler::check {

/// Which set of a site the machines are of: `site` of the settings, as `hostler cloudtest` writes
/// it.
struct SiteName {
  std::string config;  ///< A file: hostlerd's configuration.
  std::string set;
  std::string type;  ///< Empty: the first one of the set's first pool that names types.
};

/// What a site says of the creates of a set, and of the logins to its machines.
struct Site {
  model::SitePolicy policy;
  model::SetPolicy set;
  model::PoolPolicy pool;
  model::InstanceType type;
  std::string config_json, credentials_json;  ///< For the driver; the second one is secret.
  std::vector<config::UserKey> user_keys;     ///< Empty: the kit makes one.
  std::optional<config::Proxy> proxy;
};

/// Reads the configuration.
Result<Site> read_site(const SiteName& name);

}  // namespace hostler::check
