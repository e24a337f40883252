#pragma once

#include <cstdint>
#include <hostler/driver.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hostler::http {

inline constexpr std::int64_t kTimeoutMs = 30'000;

/// SECRET: what a request to a cloud of Amazon's kind is signed with (AWS signature version 4).
struct Signature {
  std::string access_key_id, secret_access_key;
  std::string session_token;  ///< Of temporary keys only.
  std::string region, service;
};

struct Request {
  std::string method = "GET";
  std::string path;  ///< With its query, below the server's address.
  std::string body = {};
  std::int64_t timeout_ms = kTimeoutMs;   ///< The operation's deadline may come before.
  std::vector<std::string> headers = {};  ///< "Name: value", beside those of the server.
  std::optional<Signature> signature = {};
  /// It changes nothing, whatever its method, so that no outcome is open without an answer.
  bool is_question = false;
  /// The server does the same if it comes twice: libcurl may send it again by itself.
  bool is_repeatable = false;

  [[nodiscard]] bool changes() const { return method != "GET" && !is_question; }
};

struct Answer {
  long status = 0;
  std::string body;
  std::int64_t date_unix_s = 0;  ///< By the clock of the server; 0: it did not say.
  /// The server wants no request for so many seconds, at most an hour; 0: it did not say.
  std::int64_t retry_after_s = 0;
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
  virtual Answer send(const Request& request, hostler_op* op) = 0;
};

}  // namespace hostler::http
