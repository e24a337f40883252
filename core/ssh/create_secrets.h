#pragma once

#include "core/model/cloud.h"
#include "core/model/instance.h"
#include "core/model/policy.h"

namespace hostler::ssh {

/// Adds to a create request of `set` what is secret, and keeps in `identity` what proves its host:
/// the host key, the challenge secret, and the init script that carries them. The script is
/// compressed where the set takes no longer one and says that it may be. It is without the init
/// command where that does not help, or as the pool says: the command, with the boot files, comes
/// over the proved connection then. A cloud-config always comes with the create.
void add_secrets(const model::PoolPolicy& pool, const std::string& set, const model::SetInfo& info,
                 model::CreateRequest& request, model::HostIdentity& identity);

}  // namespace hostler::ssh
