#pragma once

#include <string>

namespace hostler::agent {

/// An id of this boot of the host. It is HOSTLER_BOOT_ID if that variable is set (containers share
/// the boot id of the kernel); otherwise a hash of the kernel's boot id and the start time of pid
/// 1; without /proc a random id.
std::string boot_id();
/// False in a container, for example.
bool is_in_first_pid_namespace();

}  // namespace hostler::agent
