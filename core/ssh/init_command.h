#pragma once

#include <string>

#include "core/model/policy.h"

namespace hostler::ssh {

/// Where a host is, for the commands of the site that run on it.
struct HostPlace {
  std::string instance;  ///< "h-7"
  std::string pool, set;
  std::string cloud_id = {};  ///< Empty: not known yet.
};

/// Lines of sh that set and export HOSTLER_INSTANCE, HOSTLER_POOL, HOSTLER_SET and
/// HOSTLER_CLOUD_ID.
std::string place_variables(const HostPlace& place);

/// The command for InitScript or make_init_delivery(): sets the variables, writes the boot files of
/// the pool, and then is its init command, which does not begin without them. Empty: the pool has
/// neither; see model::runs_at_boot().
std::string make_init_command(const model::PoolPolicy& pool, const HostPlace& place);

}  // namespace hostler::ssh
