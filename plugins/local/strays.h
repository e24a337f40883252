#pragma once

#include <string>

namespace hostler::local {

/// Kills processes that belong to the instance of this folder according to their environment,
/// working directory or open files. True if there were any. Needed without namespaces, when both
/// processes of the supervisor were killed at the same time. Does not find a process that has
/// changed all three.
bool kill_strays(const std::string& folder);

}  // namespace hostler::local
