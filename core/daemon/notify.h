#pragma once

#include <string_view>

namespace hostler::daemon {

/// Tells the service manager ("READY=1"), by the protocol of sd_notify(3); nothing where none
/// asked for it. Errors are of no consequence.
void notify(std::string_view state);

}  // namespace hostler::daemon
