#pragma once

#include <string>

/// Processes that belong to the instance of a folder according to their environment, working
/// directory or open files; the folder may have been removed. Those that have changed all three are
/// not found.
namespace hostler::local {

bool has_processes(const std::string& folder);
/// Kills them. True if there were any. Needed if the folder was removed by somebody else, and,
/// without namespaces, when both processes of the supervisor were killed at the same time.
bool kill_strays(const std::string& folder);

}  // namespace hostler::local
