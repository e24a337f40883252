#pragma once

#include <string>

namespace hostler::local {

/// Kills processes that belong to the instance of this folder by their environment, working
/// directory or open files, and says whether there were any. For what no supervisor can do any
/// more: without namespaces, when both of its processes were killed together. A process that has
/// changed all three is not found.
bool kill_strays(const std::string& folder);

}  // namespace hostler::local
