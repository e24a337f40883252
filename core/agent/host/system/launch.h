#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace hostler::agent {

/// A program to execute and its environment.
struct Launch {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> env;  ///< The last of equal names wins.
  std::string folder;                                    ///< Working folder; absolute.
  std::uint32_t uid = 0;                                 ///< User to run as; 0: the caller.
  std::vector<std::string> cgroups;                      ///< Folders of cgroups to enter.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

/// Starts the program in a session of its own. It is killed when the calling process ends, inherits
/// only the three descriptors, blocks no signals, and cannot gain privileges. Blocks until the
/// program runs and returns its process id, or returns an error such as "exec x: No such file or
/// directory". kInvalidArgument: the program cannot be executed; other errors are of the host.
Result<pid_t> launch(const Launch& what);

/// PATH of programs that are started without one.
inline constexpr const char* kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace hostler::agent
