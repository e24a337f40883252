#pragma once

#include <vector>

#include "core/usage/usage.h"

/// What --help and the man page say of `hostler` beside its arguments.
namespace hostler::cli {

inline constexpr const char* kDescription =
    "jobs on verified cloud hosts\n\n"
    "hostler speaks to hostlerd, which makes the cloud hosts that its queue of jobs needs, proves\n"
    "that each is the one it asked for, runs the jobs there, and gives back what is idle.\n";

std::vector<usage::Section> sections();
usage::Completions completions();

}  // namespace hostler::cli
