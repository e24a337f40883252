#pragma once

#include "sdk/hosts/machine/namespaces.h"

namespace hostler::machines {

/// For the first process of a machine: makes the files that it sees, in its own mounts. Those of
/// this system are read-only; below /etc, /var, /usr and /opt root's changes go into memory. /tmp,
/// /run, /home and the like are empty and in memory; /proc and /dev are the machine's own. Throws a
/// Failure.
void build_view(const Account& account);

}  // namespace hostler::machines
