#pragma once

#include <sys/types.h>

#include "folder/instance_folder.h"

namespace hostler::local {

/// Forks a child as the first process of new pid, mount, ipc and uts namespaces; for an ordinary
/// user also of a user namespace. When the child ends, the kernel kills all processes in the
/// namespaces. -1 if namespaces are not allowed.
pid_t fork_into_namespaces();

/// For that child: sets up its own /proc, the host name and the account file. `uid` and `gid` are
/// those of the parent. Throws if a step is not allowed.
void settle_in_namespaces(const InstanceFolder& folder, const BootPlan& plan, uid_t uid, gid_t gid);

/// True if all of this is allowed on this machine.
bool namespaces_work();

}  // namespace hostler::local
