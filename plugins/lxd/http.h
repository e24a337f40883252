#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config.h"
#include "transport.h"

namespace hostler::lxd {

/// By libcurl, over a unix socket or TLS. Keeps connections for later requests.
class Http : public Transport {
 public:
  Http(const Config& config, Credentials credentials);
  ~Http() override;

  HttpAnswer send(const HttpRequest& request, hostler_op* op) override;

 private:
  struct Connection;  // with what it takes to use it, for one request at a time

  /// A transfer without an answer.
  struct Failed {
    int code = -1;  ///< CURLcode; -1: it has not ended.
    bool is_cancelled = false;
    long bytes_sent = 0;
    std::string why;  ///< In the words of libcurl; may be empty.
  };

  std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);
  void prepare(Connection& connection, const HttpRequest& request) const;
  int transfer(Connection& connection, const HttpRequest& request, hostler_op* op) const;
  [[nodiscard]] NoAnswer failure(const HttpRequest& request, const Failed& failed) const;

  const std::string socket_, base_, ca_file_;
  /// Of the server's certificate, 64 hexadecimal digits; empty: authorities decide. Read by a
  /// callback of each Connection.
  std::string pin_;
  const Credentials credentials_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  ///< Under mutex_.
};

}  // namespace hostler::lxd
