#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace hostler::cli {

/// Where somebody logs in, as the daemon says it.
struct SshTarget {
  std::string user, host;
  std::uint16_t port = 22;
  std::string jump_host = {};  ///< Empty: the host is reached directly.
  std::uint16_t jump_port = 22;
  /// Files of private keys; empty: those of the user's configuration and agent.
  std::vector<std::string> identities = {};
};

/// The words that start `ssh` so that it accepts no keys but those of `known_hosts`, a file with a
/// line for the host and one for the jump host, and writes to no file of the user. It shares no
/// connection with others (ControlMaster), also to the jump host, and forwards no agent, display or
/// port to the host. The user's own configuration says all else, such as who logs in on the jump
/// host; options there that ssh does not know are ignored. `command` runs on the host; empty: a
/// shell. Fails if the daemon names a host or a user that would be an option. Asserts that the
/// file's path needs no quoting.
Result<std::vector<std::string>> ssh_command(const SshTarget& target,
                                             const std::string& known_hosts,
                                             const std::vector<std::string>& command);

}  // namespace hostler::cli
