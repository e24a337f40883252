#include "core/daemon/create_secrets.h"

#include <utility>

#include "core/crypto/random.h"
#include "core/ssh/create_secrets.h"

namespace hostler::daemon {

dispatch::CreateSecretsFactory make_create_secrets(
    std::map<std::string, std::vector<std::string>> public_keys) {
  return [public_keys = std::move(public_keys)](
             const model::PoolPolicy& pool, const std::string& set, const model::SetInfo& info,
             model::CreateRequest& request, model::HostIdentity& identity) {
    request.idempotency_key = crypto::random_uuid();
    if (const auto keys = public_keys.find(set); keys != public_keys.end())
      request.ssh_public_keys = keys->second;
    ssh::add_secrets(pool, set, info, request, identity);
  };
}

}  // namespace hostler::daemon
