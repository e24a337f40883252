#pragma once

#include "core/agent/protocol.h"
#include "core/hosts/settings.h"
#include "core/model/policy.h"

namespace hostler::hosts {

/// What the agents of a pool's hosts are told once they have greeted, and when the pool changes.
[[nodiscard]] agent::Configure to_configure(const HostSettings& settings,
                                            const model::PoolPolicy& pool);

}  // namespace hostler::hosts
