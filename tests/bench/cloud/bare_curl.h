#pragma once

#include <curl/curl.h>

#include <string>
#include <vector>

namespace hostler::bench {

/// Requests by libcurl alone, as a driver sends them, on one connection. Not thread-safe.
class BareCurl {
 public:
  struct Request {
    std::string method, path, body = {};
    bool fresh_connection = false;
    std::string signing = {};  ///< CURLOPT_AWS_SIGV4, with `user` and `password`; empty: none.
    std::string user = {}, password = {};
  };

  /// \param socket a path; empty: by TCP.
  BareCurl(std::string base, std::string socket);
  ~BareCurl();
  BareCurl(const BareCurl&) = delete;
  BareCurl& operator=(const BareCurl&) = delete;

  /// The body of the answer. Throws std::runtime_error if there is none.
  const std::string& send(const Request& request);

 private:
  const std::string base_, socket_;
  CURL* easy_;
  std::string answer_;
};

}  // namespace hostler::bench
