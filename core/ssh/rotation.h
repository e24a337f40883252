#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/ssh/session.h"

/// A new host key and secret for a host that was just proved: what user data delivered is used
/// once. Both run over a verified session and need the rights of the owner of the host key;
/// `prefix` is put before the command, e.g. "sudo -n ".
namespace hostler::ssh {

struct NextKey {
  bool none = false;  ///< The host's key may not be replaced: `why` says so, the rest is empty.
  std::string why;
  std::string public_key;  ///< "ssh-ed25519 AAAA..."
  std::string secret;      ///< 64 hexadecimal digits.
};

/// Makes KEY.next, its .pub and a next secret on the host. Nothing is active yet; done again, it
/// replaces what it made before.
boost::asio::awaitable<Result<NextKey>> prepare_rotation(Session& session, std::string prefix);

/// Puts the committed next key in place and has sshd read it. Done again it finds the key in
/// place and only has it read. New connections are refused for some milliseconds meanwhile.
boost::asio::awaitable<Result<void>> activate_rotation(Session& session, std::string prefix,
                                                       std::string public_key);

}  // namespace hostler::ssh
