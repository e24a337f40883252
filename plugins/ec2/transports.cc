#include "transports.h"

#include "api.h"
#include "http/client.h"
#include "services.h"

namespace hostler::ec2 {
namespace {

constexpr long kMetadataConnectTimeoutMs = 2'000;

std::shared_ptr<http::Transport> to_service(const std::string& endpoint, const Config& config) {
  http::Server server;
  server.base = endpoint;
  server.ca_file = config.ca_file;
  server.may_be_plain = true;  // read_config() takes it for this machine only
  server.unknown_hint = "check `region`, `endpoint` and `sts_endpoint`";
  server.untrusted_hint = "set `ca_file`";
  server.unreadable_hint = "check `ca_file`, and name the file in `readable` of the set";
  server.too_long_hint = "Amazon does not send as much";
  return std::make_shared<http::Client>(std::move(server));
}

}  // namespace

Transports make_transports(const Config& config) {
  http::Server metadata;
  metadata.base = config.metadata_endpoint;
  metadata.may_be_plain = true;
  metadata.uses_proxy = false;
  metadata.connect_timeout_ms = kMetadataConnectTimeoutMs;
  Transports out;
  out.ec2 = to_service(config.endpoint, config);
  out.sts = to_service(config.sts_endpoint, config);
  out.metadata = std::make_shared<http::Client>(std::move(metadata));
  return out;
}

std::shared_ptr<KeySource> make_key_source(const Config& config, const Credentials& credentials,
                                           const Transports& transports) {
  std::shared_ptr<KeySource> own;
  if (!credentials.access_key_id.empty()) {
    own = std::make_shared<FixedKeys>(Keys{credentials.access_key_id, credentials.secret_access_key,
                                           credentials.session_token, 0});
  } else {
    own = std::make_shared<RenewedKeys>([metadata = transports.metadata](hostler_op* op) {
      return keys_of_machine(*metadata, op);
    });
  }
  if (config.role_arn.empty()) return own;
  auto sts = std::make_shared<Api>(transports.sts, sts_service(config, transports), own);
  return std::make_shared<RenewedKeys>(
      [sts, arn = config.role_arn, id = config.role_external_id](hostler_op* op) {
        return assume_role(*sts, arn, id, op);
      });
}

}  // namespace hostler::ec2
