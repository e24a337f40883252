#pragma once

#include <optional>

#include "core/base/error.h"
#include "core/model/sandbox.h"
#include "core/plugin_host/manifest.h"

namespace hostler::plugin_host {

/// The sandbox for the process of a set's driver: what the set's configuration says, else full. A
/// driver that asks for less gets it only from the configuration; `local` alone has less by
/// default, since its instances are processes that it starts. An error says why the set cannot be
/// opened, and what to do.
Result<model::Sandbox> sandbox_of(const Manifest& driver, std::optional<model::Sandbox> configured,
                                  model::Sandbox min);

}  // namespace hostler::plugin_host
