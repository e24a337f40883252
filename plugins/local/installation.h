#pragma once

#include <hostler/driver.h>

#include "account.h"
#include "config.h"

namespace hostler::local {

inline constexpr const char* kSupervisor = "hostler-local-supervisor";

/// Fills in the path of the supervisor: the host's open file, or that beside the driver's file if
/// the host has none to give, unless it is configured. Throws driver::Error(HOSTLER_E_INVALID) that
/// names the field if a program is missing or not allowed.
Config checked_installation(Config config, const hostler_host& host);

/// Prepares the machine for sshd. As root, creates sshd's folder in /run. Throws if the account
/// cannot log in and there are no namespaces, in which an instance would have an account file of
/// its own.
void prepare_machine(const Config& config, const Account& account, hostler_op* op);

}  // namespace hostler::local
