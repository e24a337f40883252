#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/api/access.h"
#include "core/api/connections.h"
#include "core/api/http.h"

namespace hostler::api {

struct ServerOptions {
  std::string unix_socket;  ///< Path; empty: none.
  unsigned unix_mode = 0660;
  std::string unix_group;                ///< Empty: the group of the socket is not changed.
  std::string tcp_address;               ///< Numeric; empty: none.
  std::uint16_t tcp_port = 0;            ///< 0: any; see Server::tcp_port().
  std::string tls_certificate, tls_key;  ///< PEM files; both or none.
  Connections::Bounds connections;       ///< Of the unix socket and of TCP, each.
  Deadlines deadlines;
};

/// HTTP/1.1 on a unix socket and on TCP, on a few threads (see Turns). Requests and answers have
/// deadlines; headers have to arrive within 30 s, the first one over TCP within 5 s with the TLS
/// handshake.
class Server {
 public:
  /// Listens, and answers nothing before start(). An address in use is an error that names it. A
  /// socket file on which nobody listens is replaced.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options,
                                                std::vector<Token> tokens,
                                                std::shared_ptr<Site> site);
  /// Stops, closes every connection and removes the socket file.
  virtual ~Server() = default;

  virtual void start() = 0;
  /// Ends listening and answering, and joins the threads. Until the destructor the site may still
  /// answer requests; nobody receives these answers.
  virtual void stop() = 0;
  /// How many connections may be open from now on; those that are stay. Any thread.
  virtual void set_bounds(Connections::Bounds bounds) = 0;
  /// Replaces the tokens of TCP clients, from the next request on. Any thread.
  virtual void set_tokens(std::vector<Token> tokens) = 0;
  /// Reads the TLS files again; the next connections get what is in them. After an error it serves
  /// as before. Does nothing without TLS. Any thread.
  virtual Result<void> reload_certificate() = 0;
  /// When the certificate expires; nullopt without TLS. Any thread.
  [[nodiscard]] virtual std::optional<Wall> certificate_end() const = 0;
  [[nodiscard]] virtual std::uint16_t tcp_port() const = 0;

 protected:
  Server() = default;
};

}  // namespace hostler::api
