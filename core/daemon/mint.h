#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/dispatch/dispatcher.h"

namespace hostler::daemon {

/// Makes what a create needs of chance: a UUID as its key, the host key, the challenge secret and
/// the init script that carries them. `public_keys`: by set, who may log in.
dispatch::CreateSecretsFactory make_mint(std::map<std::string, std::vector<std::string>> public_keys);

}  // namespace hostler::daemon
