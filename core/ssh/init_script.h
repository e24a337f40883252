#pragma once

#include <string>

namespace hostler::ssh {

struct InitScript {
  std::string secret;            ///< 64 hexadecimal digits: the host's answer to challenges.
  std::string host_private_key;  ///< OpenSSH form; empty: none is delivered this way.
  std::string host_public_key;   ///< Goes with it.
  std::string command;           ///< The site's own init command; runs last.
};

/// The POSIX sh script that a host runs once as root at first boot, before or while sshd starts.
/// It is a secret. Cut off at any byte it leaves nothing half-written in place.
std::string make_init_script(const InitScript& script);

}  // namespace hostler::ssh
