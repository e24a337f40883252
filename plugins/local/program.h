#pragma once

#include <hostler/driver.h>

#include <string>
#include <vector>

namespace hostler::local {

/// Runs a program in a session of its own with an almost empty environment. `name`: what it sees as
/// argv[0], if that is not its path. Blocks until it ends
/// and returns its exit status. At the deadline of `op`, or when `op` is cancelled, kills the
/// program and throws TIMEOUT or CANCELLED. Throws INTERNAL if the program cannot be run or a
/// signal ends it.
int run_program(const std::vector<std::string>& argv, hostler_op* op, const char* name = nullptr);

}  // namespace hostler::local
