#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/ssh/session.h"

/// Replaces the host key and the secret of a host that was just proved, so that the ones delivered
/// in its user data are used only once. Both functions run commands over a verified session, with
/// the rights of the host key's owner: `prefix` stands before the command, e.g. "sudo -n ".
namespace hostler::ssh {

/// By what a machine is recognised as the one that a create has set up: one of both is enough. A
/// driver may name any machine, also its author's own, and a proof says only that it is that one.
struct Marker {
  std::string secret;         ///< That the init script puts there; empty: none was sent.
  std::string delivered_key;  ///< The public host key that was made for it; empty: none was.
};

struct NextKey {
  bool none = false;       ///< The host cannot replace its key; the rest but `why` is empty.
  bool unmarked = false;   ///< It has no marker, or not yet; the rest but `why` is empty.
  std::string why;         ///< With these: the reason.
  std::string public_key;  ///< "ssh-ed25519 AAAA..."
  std::string secret;      ///< 64 hexadecimal digits.
};

/// Creates KEY.next, KEY.next.pub and the next secret on the host, in place of earlier ones. They
/// are not in use yet. Writes nothing on a machine without the marker.
boost::asio::awaitable<Result<NextKey>> prepare_rotation(Session& session, std::string prefix,
                                                         Marker marker);

/// Makes the next key, which must be `public_key`, and the next secret the current ones, and
/// reloads sshd. May be repeated: if the key is in place already, it only reloads sshd. During the
/// reload, sshd refuses new connections for some milliseconds.
boost::asio::awaitable<Result<void>> activate_rotation(Session& session, std::string prefix,
                                                       std::string public_key);

}  // namespace hostler::ssh
