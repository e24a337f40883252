#pragma once

#include "core/base/error.h"

namespace hostler::driver_host {

/// No core file of this process is written, and no process of the same user can read its memory:
/// the credentials of the set are there.
void keep_memory_private();
/// Limits that a defect of the driver meets before the machine does: memory, descriptors. Programs
/// that the driver starts inherit them.
void limit_resources();
/// No capabilities, for root either, and none from programs.
Result<void> drop_privileges();

}  // namespace hostler::driver_host
