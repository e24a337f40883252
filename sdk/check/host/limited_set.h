#pragma once

#include <memory>

#include "core/plugin_host/driver_set.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

/// The set with calls that keep within the rate of its cloud: each waits for its turn by the
/// settings' `rate`, and one that is refused with RATE_LIMIT is made again when the cloud allows
/// it, as hostlerd does; a refusal of which that takes too long is reported. Unlike those of other
/// sets, its functions and callbacks block while they wait. The context must outlive the set.
std::unique_ptr<plugin_host::DriverSet> keep_rate(std::unique_ptr<plugin_host::DriverSet> set,
                                                  Context& context);

}  // namespace hostler::check
