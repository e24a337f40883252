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
  bool no_new_privs = true;        ///< Programs with setuid or capabilities give it none.
  bool drop_capabilities = false;  ///< It can have no capability, not even as root.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

/// Starts the program in a session of its own. It is killed when the calling process ends, inherits
/// only the three descriptors, and blocks no signals. Blocks until the program runs and returns its
/// process id, or returns an error such as "exec x: No such file or directory". kInvalidArgument:
/// the program cannot be executed; other errors are of the host.
Result<pid_t> launch(const Launch& what);

/// PATH of programs that are started without one.
inline constexpr const char* kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace hostler::agent
