#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "core/model/host.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// What stands before a command that is to have the rights of `prefix` ("sudo -n " or nothing): it
/// keeps the variables that the driver has set for the session, which sudo would remove.
[[nodiscard]] std::string with_rights(const std::string& prefix);

/// Runs a command on a proved session to its end, or says why its end is not known. Ends by the
/// limit of the command.
boost::asio::awaitable<model::CommandEnded> run_command(ssh::Session& session, std::string prefix,
                                                        model::RunCommand run);

/// The answer where no connection stands.
[[nodiscard]] model::CommandEnded not_started(const model::RunCommand& run, std::string why);

}  // namespace hostler::hosts
