#pragma once

#include <memory>
#include <string>

#include "core/base/files.h"

namespace hostler::ssh {

class TunnelPump;

/// A connection that the server of a session has made for us to a host, as a socket: what is
/// written there comes out at the host. Both directions are bounded; a slow reader on either side
/// stops the writer on the other. See Session::open_tunnel().
///
/// Threads: the executor's one thread. Lifetime: the connection to the host ends soon after this
/// object is destroyed, and the session to the server stays open while a tunnel exists.
class Tunnel {
 public:
  Tunnel(UniqueFd socket, std::shared_ptr<TunnelPump> pump);
  ~Tunnel();  // NOLINT(bugprone-exception-escape)
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// Our end of the connection; once.
  UniqueFd take_socket() { return std::move(socket_); }
  /// Why the other end closed it, for messages; empty while it is open, and if the host itself
  /// closed it.
  [[nodiscard]] const std::string& end_reason() const;

 private:
  UniqueFd socket_;
  std::shared_ptr<TunnelPump> pump_;
};

}  // namespace hostler::ssh
