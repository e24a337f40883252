#pragma once

#include <string>

#include "core/base/error.h"
#include "core/hosts/settings.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// Puts the agent's program on a verified host unless it is there, by content hash. Returns the
/// command that speaks to it, for an SSH channel. `prefix` is put before what needs rights.
boost::asio::awaitable<Result<std::string>> deploy_agent(ssh::Session& session, std::string prefix,
                                                         const HostSettings& settings);

}  // namespace hostler::hosts
