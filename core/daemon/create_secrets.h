#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/dispatch/dispatcher.h"

namespace hostler::daemon {

/// Makes the random parts of a create request: a UUID as its idempotency key, and what
/// ssh::add_secrets() adds. `public_keys`: the SSH keys that may log in, by set.
dispatch::CreateSecretsFactory make_create_secrets(
    std::map<std::string, std::vector<std::string>> public_keys);

}  // namespace hostler::daemon
