#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/dispatch/dispatcher.h"

namespace hostler::daemon {

/// Makes the random parts of a create request: a UUID as its idempotency key, the host key, the
/// challenge secret and the init script that carries them, which is compressed where the set takes
/// no longer one and says that it may be. It is without the init command where that does not help,
/// or as the pool says: the command comes over the proved connection then. `public_keys`: the SSH
/// keys that may log in, by set.
dispatch::CreateSecretsFactory make_create_secrets(
    std::map<std::string, std::vector<std::string>> public_keys);

}  // namespace hostler::daemon
