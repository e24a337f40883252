#pragma once

#include <string>

namespace hostler::agent {

/// What names this boot: HOSTLER_BOOT_ID of the session, since namespaces share the kernel's; else
/// a hash of the kernel's and the start time of pid 1; else (no /proc) a new one at each start.
std::string boot_id();

}  // namespace hostler::agent
