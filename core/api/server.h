#pragma once

#include <memory>
#include <string>

#include "core/api/access.h"
#include "core/api/http.h"

namespace hostler::api {

struct ServerOptions {
  std::string unix_socket;  ///< Path; empty: none.
  unsigned unix_mode = 0660;
  std::string unix_group;                ///< Empty: left as it is.
  std::string tcp_address;               ///< Numeric; empty: none.
  std::uint16_t tcp_port = 0;            ///< 0: any; see Server::tcp_port().
  std::string tls_certificate, tls_key;  ///< PEM files; both or none.
  unsigned connections_max = 2000;       ///< Of each of the two.
  Deadlines deadlines;
};

/// HTTP/1.1 on a unix socket and on TCP. Requests and answers have deadlines, and headers 30 s.
class Server {
 public:
  /// Listens; nothing is answered before start(). An address in use is an error that names it; a
  /// stale socket file, behind which nobody listens, is replaced.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options,
                                                std::vector<Token> tokens,
                                                std::shared_ptr<Site> site);
  virtual ~Server() = default;  ///< Stops, closes every connection, removes the socket file.

  virtual void start() = 0;
  /// Listens no more, answers nothing more. Answers that the site still owes may come until the
  /// destructor: they are heard by nobody.
  virtual void stop() = 0;
  /// Who may speak on TCP, from the next request on. Any thread.
  virtual void set_tokens(std::vector<Token> tokens) = 0;
  [[nodiscard]] virtual std::uint16_t tcp_port() const = 0;

 protected:
  Server() = default;
};

}  // namespace hostler::api
