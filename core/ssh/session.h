#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/crypto/ssh_keys.h"
#include "core/ssh/channel.h"

/// SSH to one host by libssh2, never blocking, as coroutines of an asio executor.
///
/// Rules for all of it. Threads: everything of one session on its executor's one thread; many
/// sessions may share it. Deadlines: every call has one and ends by it. Cancelling or destroying
/// a coroutine at any moment is fine and leaves nothing behind. Arguments of an awaited call are
/// named variables, moved (gcc 12.2 miscompiles temporaries there).
/// Errors: kUnavailable had no effect on the host; kOutcomeUnknown may have had; the message says
/// which step failed, at which address and what to do.
namespace hostler::ssh {

class Transport;

struct ConnectRequest {
  std::string host;  ///< An address, better than a name: getaddrinfo cannot be interrupted.
  std::uint16_t port = 22;
  /// Type of the key that is expected, asked for first: "ssh-ed25519". Empty: ed25519, then ecdsa.
  std::string key_type;
  Duration connect_limit = std::chrono::seconds(10);
  Duration key_exchange_limit = std::chrono::seconds(10);
};

struct Credentials {
  std::string user;
  std::vector<std::string> private_keys;  ///< ed25519 or ecdsa; tried in order. Secrets.
  Duration limit = std::chrono::seconds(20);
};

struct ExecRequest {
  std::string command;
  std::string input;  ///< Sent to its standard input, then end of file.
  std::size_t output_max = std::size_t{1}
                           << 20U;  ///< Of each stream; the rest is read and dropped.
  /// More than this in all is a failure, and not waited for.
  std::size_t flood_min = std::numeric_limits<std::size_t>::max();
  Duration limit = std::chrono::seconds(30);
};

struct ExecResult {
  std::string output, errors;  ///< Standard output and standard error.
  bool truncated = false;
  std::optional<int> status;  ///< Unset if a signal ended it.
  std::string signal;         ///< "TERM", "KILL", ...

  [[nodiscard]] bool ok() const { return status == 0; }
  /// "status 1: <the end of what it printed>".
  [[nodiscard]] std::string describe() const;
};

struct OpenRequest {
  std::string command;
  Duration limit = std::chrono::seconds(30);
};

/// One connection to one host. Destroying it, once its channels are gone, ends the connection.
class Session {
 public:
  /// Connects and exchanges keys; nothing is sent to the host's users yet. The caller looks at
  /// host_key() and then either authenticates or lets the session go.
  static boost::asio::awaitable<Result<std::unique_ptr<Session>>> connect(ConnectRequest request);

  explicit Session(std::shared_ptr<Transport> transport, crypto::SshPublicKey host_key);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const crypto::SshPublicKey& host_key() const { return host_key_; }
  /// "127.0.0.1:22", for messages.
  [[nodiscard]] const std::string& address() const;
  /// True once the connection has ended for whatever reason.
  [[nodiscard]] bool is_lost() const;

  boost::asio::awaitable<Result<void>> authenticate(Credentials credentials);

  /// Runs a command to its end. At most eight commands and channels run at once, later ones wait
  /// their turn. A command that passes its limit goes on there (SSH has no way to end it) and
  /// keeps its place until it ends: close the session then.
  boost::asio::awaitable<Result<ExecResult>> exec(ExecRequest request);

  /// Starts a command and leaves it running, its streams being the channel.
  boost::asio::awaitable<Result<Channel>> open_channel(OpenRequest request);

  /// Says goodbye and ends the connection; whoever waits gets an error.
  void close();

 private:
  std::shared_ptr<Transport> transport_;
  crypto::SshPublicKey host_key_;
};

}  // namespace hostler::ssh
