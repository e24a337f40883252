#pragma once

#include <string>

#include "core/base/error.h"

namespace hostler::driver_host {

/// Takes from this process what a driver does not need, for all of its threads and for ever.
/// `level`: "full" (system calls and files), "files", "none" (limits of resources only); each as
/// far as the kernel can. Returns the level that is in force.
Result<std::string> confine(const std::string& level);

}  // namespace hostler::driver_host
