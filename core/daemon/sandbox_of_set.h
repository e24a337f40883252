#pragma once

#include "core/base/error.h"
#include "core/daemon/clouds.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/plugin_host/manifest.h"

namespace hostler::daemon {

/// The sandbox for a set's driver: what the configuration says, else full. A driver that asks for
/// less gets it only from the configuration; `local` alone has less by default, since its instances
/// are processes that it starts. An error says why the set cannot be opened, and what to do.
Result<driver_host::SandboxOptions> sandbox_of(const SetSource& set,
                                               const plugin_host::Manifest& driver,
                                               model::Sandbox min);

}  // namespace hostler::daemon
