#pragma once

#include <functional>
#include <string>

#include "core/model/cloud.h"
#include "core/model/instance.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// Makes the random and secret parts of a create: idempotency key, host key, challenge secret, user
/// data, SSH keys. The daemon uses core/crypto, the simulation its seed.
using CreateSecretsFactory =
    std::function<void(const model::PoolPolicy&, const std::string& set, const model::SetInfo&,
                       model::CreateRequest&, model::HostIdentity&)>;

}  // namespace hostler::dispatch
