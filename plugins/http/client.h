#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/transport.h"

namespace hostler::http {

/// A server, and how to know it.
struct Server {
  std::string socket;  ///< A path; or, if it is empty, base.
  std::string base;    ///< "https://host:port", or "http://..." where that is allowed.
  /// SHA-256 of the server's certificate, 64 hexadecimal digits; empty: authorities vouch for it.
  std::string pin;
  std::string ca_file;                         ///< Of those authorities; empty: the system's.
  std::string client_certificate, client_key;  ///< PEM, SECRET; empty: none.
  std::vector<std::string> headers;            ///< Of each request.
  bool may_be_plain = false;                   ///< `base` may be one of plain HTTP.
  bool uses_proxy = true;                      ///< That of the environment.
  long connect_timeout_ms = 10'000;
  // What to do, in the words of the driver's own configuration.
  std::string untrusted_hint;   ///< About a certificate that no authority vouches for.
  std::string other_pin_hint;   ///< About a certificate that is not the one of `pin`.
  std::string unreadable_hint;  ///< About a `ca_file` that cannot be read.
  std::string forbidden_hint;   ///< About a socket that this process may not open.
  std::string unknown_hint;     ///< Where nobody knows the name of the server.
  std::string too_long_hint;    ///< About an answer of more than 64 MiB.
};

/// By libcurl, over a unix socket, TLS or plain HTTP. Keeps connections for later requests.
class Client : public Transport {
 public:
  /// Throws driver::Error(INTERNAL) if libcurl cannot be used.
  explicit Client(Server server);
  ~Client() override;

  Answer send(const Request& request, hostler_op* op) override;

 private:
  struct Connection;  // with what it takes to use it, for one request at a time

  /// A transfer without an answer.
  struct Failed {
    int code = -1;  ///< CURLcode; -1: it has not ended.
    bool is_cancelled = false;
    bool lacks_memory = false;  ///< For the answer.
    long bytes_sent = 0;
    std::string why;  ///< In the words of libcurl; may be empty.
  };

  std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);
  void prepare(Connection& connection, const Request& request) const;
  void prepare_way(Connection& connection) const;
  int transfer(Connection& connection, const Request& request, hostler_op* op) const;
  [[nodiscard]] NoAnswer failure(const Request& request, const Failed& failed) const;

  const Server server_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  ///< Under mutex_.
};

}  // namespace hostler::http
