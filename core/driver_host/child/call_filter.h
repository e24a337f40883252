#pragma once

#include "core/base/error.h"

namespace hostler::driver_host {

/// Leaves to this thread, and to all that it starts, the system calls that a driver needs: network,
/// memory, threads, reading files, time (allowed_calls.h). The others fail with EPERM, those that
/// are newer than this program with ENOSYS, as on an older kernel, so that libraries do without.
/// For ever. The error says why the kernel cannot.
Result<void> restrict_calls();

}  // namespace hostler::driver_host
