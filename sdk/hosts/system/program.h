#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hostler::machines {

/// What programs are found by.
inline constexpr const char* kPath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Starts a program in a session of its own with this environment and an empty standard input;
/// output goes where that of this process goes. -1 if the fork fails; the child exits with 127 if
/// the program cannot be executed.
pid_t start_program(const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment);

/// Runs a program to its end with `input`, and returns what it printed. Throws a Failure with the
/// end of what it said on standard error if its status is not 0.
std::string run_program(const std::vector<std::string>& argv, const std::string& input);

}  // namespace hostler::machines
