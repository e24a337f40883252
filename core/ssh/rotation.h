#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/ssh/session.h"

/// Replaces the host key and the secret of a host that was just proved, so that the ones delivered
/// in its user data are used only once. Both functions run commands over a verified session, with
/// the rights of the host key's owner: `prefix` stands before the command, e.g. "sudo -n ".
namespace hostler::ssh {

struct NextKey {
  bool none = false;       ///< The host cannot replace its key; the rest but `why` is empty.
  std::string why;         ///< With `none`: the reason.
  std::string public_key;  ///< "ssh-ed25519 AAAA..."
  std::string secret;      ///< 64 hexadecimal digits.
};

/// Creates KEY.next, KEY.next.pub and the next secret on the host, in place of earlier ones. They
/// are not in use yet.
boost::asio::awaitable<Result<NextKey>> prepare_rotation(Session& session, std::string prefix);

/// Makes the next key, which must be `public_key`, and the next secret the current ones, and
/// reloads sshd. May be repeated: if the key is in place already, it only reloads sshd. During the
/// reload, sshd refuses new connections for some milliseconds.
boost::asio::awaitable<Result<void>> activate_rotation(Session& session, std::string prefix,
                                                       std::string public_key);

}  // namespace hostler::ssh
