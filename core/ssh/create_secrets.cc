#include "core/ssh/create_secrets.h"

#include <algorithm>
#include <utility>

#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/ssh/gzip.h"
#include "core/ssh/init_command.h"
#include "core/ssh/init_script.h"
#include "core/ssh/multipart.h"

namespace hostler::ssh {
namespace {

/// Compressed where the set takes no more otherwise. False: it is still too long.
bool put_user_data(const InitScript& init, const std::string& cloud_config,
                   const model::SetInfo& info, model::CreateRequest& request) {
  const auto fits = [&] {
    return info.user_data_max_bytes == 0 || request.user_data.size() <= info.user_data_max_bytes;
  };
  request.user_data = make_init_script(init);
  if (!cloud_config.empty()) request.user_data = make_multipart(cloud_config, request.user_data);
  request.user_data_gzip = false;
  if (fits() || !info.user_data_gzip) return fits();
  request.user_data = gzip(request.user_data);
  request.user_data_gzip = true;
  return fits();
}

}  // namespace

void add_secrets(const model::PoolPolicy& pool, const std::string& set, const model::SetInfo& info,
                 model::CreateRequest& request, model::HostIdentity& identity) {
  const auto accepts = [&](model::VerifyMethod method) {
    return std::ranges::find(pool.verify, method) != pool.verify.end();
  };
  InitScript init;
  init.instance = request.host_instance_id;
  init.command = make_init_command(pool, {init.instance, pool.name, set});
  if (info.user_data) identity.challenge_secret = init.secret = crypto::random_hex(32);
  if (accepts(model::VerifyMethod::kDelivered)) {
    const auto pair = crypto::make_ed25519_key("hostler");
    const auto line = crypto::parse_public_key(pair.public_key);
    identity.delivered_private_key = pair.private_key;
    identity.delivered_public_key = line ? line->line() : pair.public_key;
    if (info.host_key_inject) {
      request.ssh_host_key_private = pair.private_key;
      request.ssh_host_key_public = pair.public_key;
    } else {
      init.host_private_key = pair.private_key;
      init.host_public_key = pair.public_key;
    }
  }
  if (!info.user_data) return;
  const std::string& cloud_config = *pool.cloud_config;
  request.user_data_format =
      cloud_config.empty() ? model::UserDataFormat::kSh : model::UserDataFormat::kMime;
  const bool by_ssh = !init.command.empty() && pool.init_delivery == model::InitDelivery::kSsh;
  if (!by_ssh && put_user_data(init, cloud_config, info, request)) return;
  const bool may_come_later =
      pool.init_delivery != model::InitDelivery::kUserData && model::needs_link(pool.readiness);
  if (!may_come_later) return;  // The create is refused.
  if (!std::exchange(init.command, {}).empty()) init.command_comes_later = true;
  (void)put_user_data(init, cloud_config, info, request);
}

}  // namespace hostler::ssh
