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
#include "core/ssh/name_resolver.h"

/// SSH to one host with libssh2. The functions are coroutines of an asio executor and never block.
///
/// Rules for all of them. Threads: the executor's one thread; many sessions may share it.
/// Deadlines: every call has a limit, except where it says otherwise. Cancellation: a coroutine may
/// be destroyed at any moment; its channel is then closed in the background. Arguments of an
/// awaited call are named variables, moved (gcc 12.2 miscompiles temporaries there). Errors: after
/// kUnavailable the host has not started the command; after kOutcomeUnknown it may have. The
/// message says which step failed, at which address, and what to do.
namespace hostler::ssh {

class Transport;
class Tunnel;

struct ConnectRequest {
  std::string host;  ///< An address or a name.
  std::uint16_t port = 22;
  /// Type of the expected host key, e.g. "ssh-ed25519": the server is asked for this type first.
  /// Empty: ed25519, then ecdsa.
  std::string key_type;
  /// The only host key that is accepted, "ssh-ed25519 AAAA..."; empty: the caller checks the key.
  std::string only_key;
  std::string via;  ///< "jump host bastion:22", for messages; empty: reached directly.
  std::shared_ptr<void> place = nullptr;          ///< Kept for as long as the connection.
  std::shared_ptr<NameResolver> names = nullptr;  ///< Null: one for this connection alone.
  Duration resolve_limit = std::chrono::seconds(10);
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
  /// Bytes to keep of each stream; the rest is read and dropped.
  std::size_t output_max = std::size_t{1} << 20U;
  /// More bytes than this in both streams end the call with an error.
  std::size_t received_max = std::numeric_limits<std::size_t>::max();
  Duration limit = std::chrono::seconds(30);
};

struct ExecResult {
  std::string output, errors;  ///< Standard output and standard error.
  bool truncated = false;
  std::optional<int> status;  ///< Unset if a signal ended the command.
  std::string signal;         ///< "TERM", "KILL", ...

  [[nodiscard]] bool ok() const { return status == 0; }
  /// "status 1, it printed '<the end of its output>'".
  [[nodiscard]] std::string describe() const;
};

/// An address as the server of a session sees it.
struct TunnelRequest {
  std::string host;
  std::uint16_t port = 22;
  Duration limit = std::chrono::seconds(5);  ///< For the server to connect to it.
};

/// Whether a server can be asked for a tunnel now.
enum class TunnelRoom : std::uint8_t {
  kFree,
  kOpening,  ///< Another one is being opened, which is soon over.
  kStuck,    ///< The server has not answered the last request within its limit.
  kFull,
};

struct OpenRequest {
  std::string command;
  Duration limit = std::chrono::seconds(30);
};

/// One connection to one host. The connection ends when the session and all its channels are gone.
class Session {
 public:
  /// Connects and exchanges keys. Sends neither user name nor credentials: the caller first checks
  /// host_key(), and then authenticates or destroys the session.
  static boost::asio::awaitable<Result<std::unique_ptr<Session>>> connect(ConnectRequest request);
  /// As connect(), through a tunnel to the host. The server that made the tunnel only passes on
  /// bytes: it cannot read or change them.
  static boost::asio::awaitable<Result<std::unique_ptr<Session>>> connect_through(
      std::unique_ptr<Tunnel> tunnel, ConnectRequest request);

  explicit Session(std::shared_ptr<Transport> transport, crypto::SshPublicKey host_key);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const crypto::SshPublicKey& host_key() const { return host_key_; }
  /// "127.0.0.1:22", for messages.
  [[nodiscard]] const std::string& address() const;
  /// True once the connection has ended, for any reason.
  [[nodiscard]] bool is_lost() const;

  boost::asio::awaitable<Result<void>> authenticate(Credentials credentials);

  /// Runs a command to its end. At most eight commands and channels run at once; later ones wait. A
  /// command that passes its limit continues on the host, since SSH cannot end it, and keeps its
  /// slot until it ends. To get rid of it, close the session.
  boost::asio::awaitable<Result<ExecResult>> exec(ExecRequest request);

  /// Starts a command and returns the channel to its streams.
  boost::asio::awaitable<Result<Channel>> open_channel(OpenRequest request);

  /// Lets the server connect to an address, and returns the connection. At most 100 exist at once,
  /// and one is opened at a time; others wait within the limit. The error says what the server has
  /// answered, and calls the server "it".
  boost::asio::awaitable<Result<std::unique_ptr<Tunnel>>> open_tunnel(TunnelRequest request);
  [[nodiscard]] TunnelRoom tunnel_room() const;
  /// Number of tunnels, also of the one that is being opened.
  [[nodiscard]] int tunnels() const;

  /// Ends the connection in order; everyone who waits gets an error.
  void close();

 private:
  std::shared_ptr<Transport> transport_;
  crypto::SshPublicKey host_key_;
};

}  // namespace hostler::ssh
