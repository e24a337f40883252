#pragma once

#include <cstdint>
#include <hostler/driver.hpp>
#include <string>

namespace hostler::lxd {

inline constexpr std::int64_t kTimeoutMs = 30'000;

struct HttpRequest {
  std::string method = "GET";
  std::string path;  ///< With its query, below the server's address.
  std::string body = {};
  std::int64_t timeout_ms = kTimeoutMs;  ///< The operation's deadline may come before.
};

struct HttpAnswer {
  long status = 0;
  std::string body;
};

/// No whole answer came. It is an error that a driver may throw as it is.
class NoAnswer : public driver::Error {
 public:
  NoAnswer(hostler_status code, const std::string& message, bool may_have_arrived)
      : Error(code, message), code_(code), may_have_arrived_(may_have_arrived) {
    if (may_have_arrived) outcome_unknown();
  }
  /// Whether asking again may help: nobody has ended the call.
  [[nodiscard]] bool is_worth_retry() const noexcept {
    return code_ == HOSTLER_E_TRANSIENT || code_ == HOSTLER_E_TIMEOUT;
  }
  /// Whether the server may have seen the request.
  [[nodiscard]] bool may_have_arrived() const noexcept { return may_have_arrived_; }

 private:
  hostler_status code_;
  bool may_have_arrived_;
};

/// The way to one server.
class Transport {
 public:
  virtual ~Transport() = default;

  /// One request, sent once. Blocks until its timeout, the deadline of `op` or its cancel. `op` may
  /// be null: nothing ends the request early. From any thread, several at once. Throws NoAnswer.
  virtual HttpAnswer send(const HttpRequest& request, hostler_op* op) = 0;
};

}  // namespace hostler::lxd
