#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler {

struct CommandLimits {
  Duration timeout{};
  std::size_t bytes_max = 0;  ///< Of its standard output.
  int stop_fd = -1;           ///< Readable: the command is ended early. -1: never.
};

/// What a program gets from this process.
struct CommandSurroundings {
  /// "NAME=value" of each variable; unset: those of this process.
  std::optional<std::vector<std::string>> environment;
  /// True: its standard error is read, and an exit status other than 0 is explained by the first
  /// line of it. False: it is that of this process, and errors never quote it.
  bool quotes_errors = false;
};

/// PATH, HOME and LC_ALL: for programs that must not see the environment of this process, which may
/// have secrets.
std::vector<std::string> plain_environment();

/// Runs a program to its end and returns its standard output. It has nothing as its input. Blocks
/// until it has ended, at most until `timeout` and a second for SIGKILL of its process group. What
/// hangs then, where nothing ends it, is left alone; it is not started again beside four such runs.
///
/// `argv`: not empty, with the absolute path of the program first. kNotFound: it cannot be started;
/// kUnavailable: it did not exit with 0, or not in time; kTooLarge: its output, which is not kept.
/// Errors name the program and never quote arguments or standard output.
Result<std::string> command_output(std::vector<std::string> argv, const CommandLimits& limits,
                                   CommandSurroundings surroundings = {});

}  // namespace hostler
