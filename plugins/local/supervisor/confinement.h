#pragma once

#include <sys/types.h>

#include "folder/instance_folder.h"

namespace hostler::local {

/// Forks into new pid, mount, ipc and uts namespaces, of which the child is the first process: with
/// it dies everything in them. For an ordinary user also into a user namespace. -1 where refused.
pid_t fork_into_namespaces();

/// For that child: its own /proc, the instance's name and its own account file. `uid` and `gid` are
/// those before the fork. Throws where a step is refused.
void settle_in_namespaces(const InstanceFolder& folder, const BootPlan& plan, uid_t uid, gid_t gid);

/// Whether all of that is allowed here.
bool namespaces_work();

}  // namespace hostler::local
