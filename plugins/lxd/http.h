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
  struct Line;  // a connection with what it takes to use it, for one request at a time

  std::unique_ptr<Line> take();
  void give_back(std::unique_ptr<Line> line);
  void prepare(Line& line, const HttpRequest& request) const;
  int transfer(Line& line, const HttpRequest& request, hostler_op* op) const;
  [[nodiscard]] NoAnswer failure(const Line& line, const HttpRequest& request, int code) const;

  const std::string socket_, base_, ca_file_;
  /// Of the server's certificate, 64 hexadecimal digits; empty: authorities decide. Read by Line's
  /// callback.
  std::string pin_;
  const Credentials credentials_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> idle_;  ///< Under mutex_.
};

}  // namespace hostler::lxd
