#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler::config {

/// Where the credentials of a set come from: a file, a variable of hostlerd's environment or the
/// output of a command, at most one of them. Each gives a JSON object for the driver.
struct CredentialSource {
  std::string file;                  ///< Absolute.
  std::string environment;           ///< The name of the variable.
  std::vector<std::string> command;  ///< The program, an absolute path, and its arguments.
  Duration interval{};               ///< After which a file is read, or a command run, again.
  Duration timeout{};                ///< Of the command.
  friend bool operator==(const CredentialSource&, const CredentialSource&) = default;
};

inline constexpr std::size_t kCredentialsMax = std::size_t{64} * 1024;

/// Reads the source, if it is a file or a variable. Blocks on the file. The result is one JSON
/// object without spaces; empty if the source is a command, or nothing. Errors name the source and
/// never quote what was read. `trusted_only`: as in LoadOptions.
Result<std::string> read_credentials(const CredentialSource& source, bool trusted_only);
/// Checks what a source gave. `source`: its name in errors.
Result<std::string> to_credentials(std::string_view text, const std::string& source);

}  // namespace hostler::config
