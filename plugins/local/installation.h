#pragma once

#include <hostler/driver.h>

#include "account.h"
#include "config.h"

namespace hostler::local {

/// The config with the supervisor's path filled in: beside the driver's own file unless it is
/// configured. Throws driver::Error(HOSTLER_E_INVALID), naming the field, where a program is
/// missing.
Config checked_installation(Config config);

/// What sshd needs besides: its folder in /run, where this is root; and an account that can log in,
/// where no namespace can give it one.
void prepare_machine(const Config& config, const Account& account, hostler_op* op);

}  // namespace hostler::local
