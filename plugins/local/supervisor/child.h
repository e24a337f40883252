#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "folder/fd.h"

namespace hostler::local {

/// Starts a program in a session of its own, with nothing on its input, its output appended to the
/// file `output`, and exactly this environment. -1 where the fork fails; a program that cannot be
/// executed shows as exit status 127.
pid_t start_child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                  const std::string& output);

/// Blocks SIGCHLD and SIGTERM, and these only: from now on they are read from what this returns.
Fd take_signals();

}  // namespace hostler::local
