#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/json/document.h"

/// What people get to read. Hosts, drivers and submitters named much of it: no control character
/// of theirs reaches the terminal.
namespace hostler::cli {

/// Documented in docs/cli.md.
namespace exit_code {
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2, kNoDaemon = 3, kNotFound = 4, kRefused = 5,
                     kTimeLimit = 124, kNoStatus = 125;
}

/// A line on standard output.
void say(std::string_view line);
/// "hostler: LINE" on standard error.
void warn(std::string_view line);
/// Warns of an error and gives its exit status.
int complain(const Error& error);
/// Prints an answer, or a part of one, as it came.
int print_json(json::Value answer);

/// At least `width` bytes of it, for columns that are not a table's.
std::string padded(std::string text, std::size_t width);
/// A member as text, whatever its kind; empty where there is none.
std::string field(json::Value value, const char* key);

}  // namespace hostler::cli
