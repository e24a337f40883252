#pragma once

#include <memory>
#include <string>

#include "core/plugin_host/driver_set.h"

namespace hostler::plugin_host {

/// A set without a driver: every call is refused with `why`. Unlike those of other sets, its
/// results come before the call returns, on the caller's thread.
std::unique_ptr<DriverSet> make_closed_set(std::string why);

}  // namespace hostler::plugin_host
