#pragma once

#include <stdexcept>
#include <string>

namespace hostler::machines {

/// Why a request or a command fails. `code` is one of the errors in README.md, or "impossible"
/// where the system does not allow machines.
struct Failure : std::runtime_error {
  Failure(std::string error_code, const std::string& message)
      : std::runtime_error(message), code(std::move(error_code)) {}
  std::string code;
};

[[noreturn]] inline void invalid(const std::string& message) { throw Failure("invalid", message); }

/// "cannot WHAT: <text of errno>", with the code `internal`.
[[noreturn]] void fail_errno(const std::string& what);

}  // namespace hostler::machines
