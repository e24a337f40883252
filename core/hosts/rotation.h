#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "core/hosts/host_context.h"
#include "core/hosts/proof.h"
#include "core/ssh/rotation.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// Replaces the host key and the challenge secret that the user data has delivered. The host makes
/// the next ones, the loop makes them durable, then the host activates them and shows them on a
/// second connection. Hosts thread only; the coroutines need this object and `session` until they
/// end. `prefix` is put before commands that need rights: "sudo -n " or nothing.
class KeyRotation {
 public:
  KeyRotation(boost::asio::io_context& io, HostContext& host, HostProof& proof)
      : host_(host), proof_(proof), timer_(io) {}
  /// Ends the wait for the marker of the host.
  void stop() { timer_.cancel(); }

  /// Whether the pool wants a rotation that this host has not had yet.
  [[nodiscard]] bool is_due() const;
  /// The host is ready: proposes the next key, or activates one that an earlier connection or an
  /// earlier daemon has proposed.
  boost::asio::awaitable<void> begin(std::shared_ptr<ssh::Session> session, std::string prefix);
  /// Sets the durable next key and secret, which the proof accepts from now on.
  void expect(const model::HostIdentity& identity);
  boost::asio::awaitable<void> activate(std::shared_ptr<ssh::Session> session, std::string prefix);

 private:
  boost::asio::awaitable<Result<ssh::NextKey>> prepare(std::shared_ptr<ssh::Session> session,
                                                       std::string prefix);
  boost::asio::awaitable<void> propose(std::shared_ptr<ssh::Session> session, std::string prefix);
  /// True once a new connection shows the key `next`, which is then accepted.
  boost::asio::awaitable<bool> is_shown(std::string next);

  HostContext& host_;
  HostProof& proof_;
  boost::asio::steady_timer timer_;
};

}  // namespace hostler::hosts
