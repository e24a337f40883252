#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "fd.h"

namespace hostler::local {

/// Starts a program in a session of its own, with empty standard input, exactly this environment,
/// and its output appended to the file `output`. -1 if the fork fails. If the program cannot be
/// executed, the child exits with status 127.
pid_t start_child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                  const std::string& output);

/// Blocks SIGCHLD and SIGTERM, and no other signals. They are read from the returned signalfd.
driver::Fd take_signals();

}  // namespace hostler::local
