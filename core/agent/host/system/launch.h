#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace hostler::agent {

/// One program to execute, with everything that it will see.
struct Launch {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> env;  ///< The last of equal names wins.
  std::string folder;                                    ///< Absolute; its working folder.
  std::uint32_t uid = 0;                                 ///< Of its own; 0: as the caller.
  std::vector<std::string> cgroups;                      ///< Folders of cgroups to enter first.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

/// Executes it in a session of its own, dies with the caller, without other descriptors, blocked
/// signals or privileges to gain. Returns its pid once the new program runs; else "exec x: No such
/// file or directory". Blocks until then.
Result<pid_t> launch(const Launch& what);

/// PATH where a job says none.
inline constexpr const char* kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace hostler::agent
