#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler::daemon {

struct CommandLimits {
  Duration timeout{};
  std::size_t bytes_max = 0;  ///< Of its standard output.
  int stop_fd = -1;           ///< Readable: the command is ended early. -1: never.
};

/// Runs a program to its end and returns its standard output. It has the environment of this
/// process, nothing as its input, and its standard error is that of this process. Blocks until it
/// has ended, at most until `timeout` and a moment for SIGKILL of its process group.
///
/// `argv`: not empty, with the absolute path of the program first. kNotFound: it cannot be started;
/// kUnavailable: it did not exit with 0, or not in time; kTooLarge: its output, which is not kept.
/// Errors name the program and never quote arguments or output.
Result<std::string> command_output(std::vector<std::string> argv, const CommandLimits& limits);

}  // namespace hostler::daemon
