#pragma once

#include <vector>

#include "core/usage/usage.h"

/// The parts of --help and of the man page of `hostler` that are not about single commands.
namespace hostler::cli {

inline constexpr const char* kDescription =
    "run jobs on verified cloud hosts, or lend the hosts\n\n"
    "hostler is the client of the daemon hostlerd. The daemon creates the cloud hosts that its "
    "queue\n"
    "of jobs and leases needs, verifies the identity of each host, runs the jobs there or lends "
    "it,\nand destroys idle hosts.\n";

std::vector<usage::Section> sections();
usage::Completions completions();

}  // namespace hostler::cli
