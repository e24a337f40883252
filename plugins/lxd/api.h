#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "answer.h"
#include "errors.h"
#include "http/text.h"
#include "transport.h"

namespace hostler::lxd {

/// The REST API of one project of one server. From any thread, several at once. All of it throws
/// Refused, and driver::Error where no answer of LXD came.
class Api {
 public:
  Api(std::unique_ptr<Transport> transport, std::string project);

  /// Tried up to three times, with pauses of random length, while nothing answers.
  /// \param timeout_ms of one try; the deadline of `op` may come before.
  Answer get(const std::string& path, hostler_op* op, std::int64_t timeout_ms = kTimeoutMs) const;
  /// What is no JSON, such as a log. Tried once.
  std::string text(const std::string& path, hostler_op* op) const;
  /// Nothing if there is no such thing.
  std::optional<Answer> find(const std::string& path, hostler_op* op) const;

  /// Sends a change once; what it began is not waited for.
  Answer begin(const std::string& method, const std::string& path, const std::string& body,
               hostler_op* op) const;
  /// Waits for the end of what begin() has begun. On a cancel of `op` it is cancelled in LXD, too,
  /// where LXD can do that. Throws an error with the outcome unknown if LXD has forgotten it.
  void finish(const Answer& begun, hostler_op* op) const;
  /// Both.
  void change(const std::string& method, const std::string& path, const std::string& body,
              hostler_op* op) const;

  /// "/1.0/instances/c1", with what follows.
  static std::string instance(std::string_view name, std::string_view rest = {});

 private:
  [[nodiscard]] std::string in_project(const std::string& path) const;
  void cancel(const std::string& operation) const noexcept;

  const std::unique_ptr<Transport> transport_;
  const std::string project_;
};

using http::encoded;

}  // namespace hostler::lxd
