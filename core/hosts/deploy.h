#pragma once

#include <string>

#include "core/base/error.h"
#include "core/hosts/settings.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// Copies the agent's program to a proved host, unless a file named by its hash is there. Returns
/// the command that connects to the agent, for an SSH channel. `prefix` is put before commands that
/// need rights: "sudo -n " or nothing.
boost::asio::awaitable<Result<std::string>> deploy_agent(ssh::Session& session, std::string prefix,
                                                         const HostSettings& settings);

}  // namespace hostler::hosts
