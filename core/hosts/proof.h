#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "core/hosts/host_context.h"
#include "core/ssh/session.h"
#include "core/ssh/verify.h"

namespace hostler::hosts {

/// Proves on every connection that the host is the one that was created, and records the accepted
/// key in the target's identity; nothing else in core/hosts does so. Hosts thread only.
class HostProof {
 public:
  explicit HostProof(HostContext& host) : host_(host) {}

  /// Judges the key that the session shows; asks the driver, or logs in and challenges the host,
  /// where the judgement needs it. On success the session is logged in and HostVerified is
  /// reported. A failure is reported too: the caller only ends the connection.
  boost::asio::awaitable<Result<void>> prove(ssh::Session& session);

  /// A connection that was made during a key rotation shows the key `shown`. Accepts it if it is
  /// `next`, the key that the rotation has made; false: it is another key.
  bool accept_rotated(const std::string& shown, const std::string& next);

  /// The host is ready: report the next key alarm even if it is about the same key.
  void forget_last_alarm() { alarming_key_.clear(); }

 private:
  boost::asio::awaitable<ssh::Judgement> judge(std::string key);
  boost::asio::awaitable<Result<void>> log_in(ssh::Session& session);
  boost::asio::awaitable<Result<void>> challenge(ssh::Session& session);
  void report_alarm(const std::string& key, const std::string& why);
  /// The one place that changes the identity of a host.
  void accept(const ssh::Judgement& judgement, const std::string& key);

  HostContext& host_;
  std::string alarming_key_;  ///< The last alarm was about this key.
};

}  // namespace hostler::hosts
