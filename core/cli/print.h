#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/json/document.h"

/// Output for people. Much of the text comes from hosts, drivers and other users, so control
/// characters are replaced before they reach the terminal.
namespace hostler::cli {

/// Documented in docs/cli.md.
namespace exit_code {
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2, kNoDaemon = 3, kNotFound = 4, kRefused = 5,
                     kOverQuota = 6, kTimeLimit = 124, kNoStatus = 125;
}

/// Prints a line on standard output.
void say(std::string_view line);
/// Prints "hostler: LINE" on standard error.
void warn(std::string_view line);
/// Prints the error with warn() and returns its exit status.
int complain(const Error& error);
/// Prints an answer of the daemon, or a part of one, as JSON on one line.
int print_json(json::Value answer);

/// `text`, filled with blanks up to `width` bytes.
std::string padded(std::string text, std::size_t width);
/// The member `key` as text, whatever its kind; empty if there is no such member.
std::string field(json::Value value, const char* key);

}  // namespace hostler::cli
