#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hostler::agent {

/// Kills all descendants of the calling process, which must be a subreaper, and waits until none is
/// left. `session` is the first process of the job; its session is killed where there is no /proc.
/// `uid` is the job's own uid, 0: none. `cgroups` are the job's. Blocks for up to 10 seconds;
/// returns false if processes are left then, for example in uninterruptible sleep.
bool kill_descendants(pid_t session, std::uint32_t uid, const std::vector<std::string>& cgroups);

/// Kills the remaining processes of an attempt whose shim is gone: those with `marker` (NAME=value)
/// in their environment, those that run as `uid` (0: none), those in `cgroups`, and children of the
/// calling process (a subreaper) that are not in `ours`. Blocks until none is left, for up to 10
/// seconds.
void kill_strays(const std::string& marker, std::uint32_t uid, const std::set<pid_t>& ours,
                 const std::vector<std::string>& cgroups);

}  // namespace hostler::agent
