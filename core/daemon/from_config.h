#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/api/routes.h"
#include "core/api/server.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/daemon/clouds.h"
#include "core/daemon/credential_watch.h"
#include "core/daemon/descriptors.h"
#include "core/hosts/settings.h"
#include "core/store/store.h"

/// Turns the configuration into the settings of each adapter.
namespace hostler::daemon {

/// SSH keys by set, in the order in which they are tried.
using KeysBySet = std::map<std::string, std::vector<std::string>>;

std::vector<SetSource> set_sources(const config::Config& config);
/// By the names of the sets.
std::map<std::string, CredentialWatches::Watched> watched_credentials(const config::Config& config);
plugin_host::DriverRules driver_rules(const config::Config& config);
/// Of a daemon that starts: the cgroups of its drivers are made.
DriverSource driver_source(const config::Config& config);
store::Options store_options(const config::Config& config, const DescriptorShares& shares);

/// Secrets: those of the configuration, or else one key per set that is created in the state folder
/// at the first start. Blocks while it reads and writes files.
Result<KeysBySet> private_keys(const config::Config& config);
/// Lines of authorized_keys.
Result<KeysBySet> public_halves(const KeysBySet& private_keys);
/// Reads the agent's program from the disk, and blocks for that. Errors name its path.
Result<hosts::HostSettings> host_settings(const config::Config& config, const KeysBySet& keys);
/// The policies with the roles of all principals that have another role than submit.
Result<model::SitePolicy> site_policy(const config::Config& config, const DescriptorShares& shares);
/// Fails if --take-over-set names an unknown set, so that a misspelled name is noticed.
Result<void> check_take_over_sets(const std::vector<std::string>& named,
                                  const model::SitePolicy& site);
std::map<std::string, model::PoolPolicy> pools_by_name(const model::SitePolicy& site);

api::ServerOptions server_options(const config::Access& access, const DescriptorShares& shares);
api::Connections::Bounds connection_bounds(const DescriptorShares& shares);
/// kInvalidArgument for an unknown role.
Result<std::vector<api::Token>> tokens_of(const config::Access& access);
api::Limits api_limits(const config::Limits& limits);

}  // namespace hostler::daemon
