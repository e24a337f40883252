#pragma once

#include <string>

#include "core/dispatch/account_commands.h"

namespace hostler::daemon {

/// The commands of core/ssh for the accounts of this store's leases. `owner`: the id of the store.
dispatch::AccountCommands make_account_commands(const std::string& owner);

}  // namespace hostler::daemon
