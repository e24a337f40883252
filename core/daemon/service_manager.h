#pragma once

#include <string_view>

namespace hostler::daemon {

/// Sends a state such as "READY=1" to the service manager by the protocol of sd_notify(3). Does
/// nothing where no service manager has asked for it; errors are ignored.
void notify_service_manager(std::string_view state);

}  // namespace hostler::daemon
