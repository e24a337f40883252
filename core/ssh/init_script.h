#pragma once

#include <string>

namespace hostler::ssh {

struct InitScript {
  std::string secret;            ///< 64 hexadecimal digits; the host answers challenges with it.
  std::string host_private_key;  ///< In OpenSSH form; empty: the host keeps the key that it has.
  std::string host_public_key;   ///< Belongs to host_private_key.
  std::string command;           ///< The site's own init command; runs last, in a shell of its own.
  std::string instance = {};     ///< "h-7": whose state of the command it is; see init_state.h.
  bool command_comes_later = false;  ///< By make_init_delivery(); with an empty `command`.
};

/// The POSIX sh script that a host runs once as root at first boot, before or while sshd starts.
/// The script is a secret. If it is cut off at any byte, it leaves no half-written file in place.
/// It ends when the command ends, and records how: init_state.h reads it.
std::string make_init_script(const InitScript& script);

/// The script that brings the init command to a host which awaits it, for standard input of a shell
/// of root. It starts the command, which goes on when the connection ends, and waits a moment until
/// its state says so. However often it is sent, the command is started once at most. `instance`, as
/// the init script has it: another host does not take the command. Empty: any takes it.
std::string make_init_delivery(const std::string& command, const std::string& instance);

}  // namespace hostler::ssh
