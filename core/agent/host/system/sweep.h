#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hostler::agent {

/// Kills every descendant of the calling subreaper and waits until none is left. Returns at once
/// when there is none. `session` is the job's (its first process): what hides from /proc is reached
/// by it. `cgroups`: of the job. `uid`: of the job's own, 0: none. Gives up after some seconds on
/// what cannot die (D state); returns false then.
bool kill_descendants(pid_t session, std::uint32_t uid, const std::vector<std::string>& cgroups);

/// Kills what is left of attempts whose shim is gone: processes whose environment has `marker`
/// (NAME=value), or that run as `uid` (0: none), or that fell to the calling subreaper and are not
/// in `ours`. Blocks until none is left or some seconds have passed.
void kill_strays(const std::string& marker, std::uint32_t uid, const std::set<pid_t>& ours,
                 const std::vector<std::string>& cgroups);

}  // namespace hostler::agent
