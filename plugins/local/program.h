#pragma once

#include <hostler/driver.h>

#include <string>
#include <vector>

namespace hostler::local {

/// Runs a program to its end, in a session of its own with an almost empty environment, and returns
/// its exit status. Kills it and throws TIMEOUT or CANCELLED where the op's deadline or cancel
/// comes first. Throws INTERNAL where it cannot be run or dies of a signal.
int run_program(const std::vector<std::string>& argv, hostler_op* op);

}  // namespace hostler::local
