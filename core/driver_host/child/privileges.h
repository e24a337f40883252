#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace hostler::driver_host {

/// No core file of this process is written, and no process of the same user can read its memory:
/// the credentials of the set are there.
void keep_memory_private();
/// Limits that a defect of the driver meets before the machine does: memory, sizes of files,
/// descriptors. Programs that the driver starts inherit them.
void limit_resources();
/// Enters the cgroups; false: there are none, or this process may not.
bool enter_cgroups(const std::vector<std::string>& folders);
/// hostlerd and others go first. False: this process may not say so.
bool give_way();
/// No capabilities, for root either, and none from programs.
Result<void> drop_privileges();

}  // namespace hostler::driver_host
