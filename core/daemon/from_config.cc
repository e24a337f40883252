#include "core/daemon/from_config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/crypto/random.h"
#include "core/crypto/ssh_keys.h"
#include "core/daemon/installation.h"

namespace hostler::daemon {

std::vector<SetSource> set_sources(const config::Config& config) {
  std::vector<SetSource> out;
  for (std::size_t i = 0; i < config.sets.size(); ++i) {
    const auto& set = config.sets[i];
    out.push_back({.name = set.name,
                   .driver = set.driver,
                   .config_json = set.config_json,
                   .credentials_json = set.credentials_json,
                   .credentials_command = set.credentials.command,
                   .tags = config.site.sets[i].tags,
                   .address = config.site.sets[i].address,
                   .sandbox = set.sandbox,
                   .readable = set.readable,
                   .record = set.record,
                   .record_max = static_cast<std::uint64_t>(set.record_max)});
  }
  return out;
}

std::map<std::string, CredentialWatches::Watched> watched_credentials(
    const config::Config& config) {
  std::map<std::string, CredentialWatches::Watched> out;
  for (const auto& set : config.sets) out[set.name] = {set.credentials, set.credentials_json};
  return out;
}

DriverSource driver_source(const config::Config& config) {
  return {.folders = driver_folders(config.driver_path),
          .rules = driver_rules(config),
          .host_program = driver_host_program(),
          .sandbox_min = config.sandbox_min,
          .cgroups = std::make_shared<driver_host::ProcessCgroups>(config.state_dir.string())};
}

plugin_host::DriverRules driver_rules(const config::Config& config) {
  return {.state_dir = config.state_dir, .trusted = config.trusted_drivers};
}

store::Options store_options(const config::Config& config, const DescriptorShares& shares) {
  store::Options out;
  out.outputs.open_max = shares.spool_files;
  // More than the head and the tail that a host keeps: one that sends more misbehaves.
  out.outputs.stream_bytes_max = std::max(
      out.outputs.stream_bytes_max, 2 * static_cast<std::uint64_t>(config.agent.output_head_max) +
                                        static_cast<std::uint64_t>(config.agent.output_tail_max));
  out.blob_bytes_max = static_cast<std::uint64_t>(config.limits.blob_max);
  out.postgres = config.postgres;
  out.disk_reserve = config.disk_reserve;
  return out;
}

Result<KeysBySet> private_keys(const config::Config& config) {
  KeysBySet out;
  for (const auto& set : config.sets) {
    auto& keys = out[set.name];
    for (const auto& key : set.user_keys) keys.push_back(key.private_key);
    if (keys.empty()) keys.push_back(HOSTLER_TRY(own_user_key(config.state_dir, set.name)));
  }
  return out;
}

Result<KeysBySet> public_halves(const KeysBySet& private_keys) {
  KeysBySet out;
  for (const auto& [set, keys] : private_keys)
    for (const auto& key : keys)
      out[set].push_back(HOSTLER_TRY(crypto::parse_private_key(key)).line());
  return out;
}

Result<model::SitePolicy> site_policy(const config::Config& config,
                                      const DescriptorShares& shares) {
  model::SitePolicy out = config.site;
  const auto tokens = HOSTLER_TRY(tokens_of(config.access));
  for (const auto& token : tokens) out.quotas.roles[token.principal()] = token.role;
  for (const unsigned uid : {0U, static_cast<unsigned>(geteuid())}) {
    const api::Principal user = api::Access::by_user(uid);
    out.quotas.roles[user.name] = user.role;
  }
  bound_instances(out, config, shares);
  return out;
}

std::map<std::string, model::PoolPolicy> pools_by_name(const model::SitePolicy& site) {
  std::map<std::string, model::PoolPolicy> out;
  for (const auto& pool : site.pools) out[pool.name] = pool;
  return out;
}

namespace {

hosts::HostSettings::Proxy to_proxy(const config::Proxy& proxy,
                                    const std::vector<std::string>& keys_of_set) {
  hosts::HostSettings::Proxy out{.host = proxy.host,
                                 .port = proxy.port,
                                 .name = proxy.name(),
                                 .user = proxy.user,
                                 .private_keys = {},
                                 .host_key = proxy.host_key};
  for (const auto& key : proxy.user_keys) out.private_keys.push_back(key.private_key);
  if (out.private_keys.empty()) out.private_keys = keys_of_set;
  return out;
}

}  // namespace

Result<hosts::HostSettings> host_settings(const config::Config& config, const KeysBySet& keys) {
  hosts::HostSettings out;
  for (const auto& set : config.sets) {
    auto& one = out.sets[set.name];
    one.private_keys = keys.at(set.name);
    one.escalate = set.escalate == config::Escalate::kSudo   ? hosts::HostSettings::Escalate::kSudo
                   : set.escalate == config::Escalate::kNone ? hosts::HostSettings::Escalate::kNone
                                                             : hosts::HostSettings::Escalate::kAuto;
    if (set.proxy) one.proxy = to_proxy(*set.proxy, one.private_keys);
  }
  out.pools = pools_by_name(config.site);
  out.agent_program = HOSTLER_TRY(read_agent_program());
  out.agent_sha256 = crypto::sha256_hex(out.agent_program);
  out.uid_first = config.agent.uid_first;
  out.uid_count = config.agent.uid_count;
  out.agent_folder = config.agent.folder;
  out.blobs_max = static_cast<std::uint64_t>(config.agent.blobs_max);
  out.processes_max = config.agent.processes_max;
  out.kill_grace_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(config.agent.kill_grace).count());
  out.output_head_max = static_cast<std::uint64_t>(config.agent.output_head_max);
  out.output_tail_max = static_cast<std::uint64_t>(config.agent.output_tail_max);
  out.seed = crypto::random_seed();
  return out;
}

api::Connections::Bounds connection_bounds(const DescriptorShares& shares) {
  return {.all = shares.connections, .of_source = (shares.connections + 1) / 2};
}

api::ServerOptions server_options(const config::Access& access, const DescriptorShares& shares) {
  api::ServerOptions out;
  out.connections = connection_bounds(shares);
  out.unix_socket = access.socket_path;
  out.unix_mode = access.socket_mode;
  out.unix_group = access.socket_group;
  out.tcp_address = access.tcp_address;
  out.tcp_port = access.tcp_port;
  out.tls_certificate = access.tls_certificate_file;
  out.tls_key = access.tls_key_file;
  return out;
}

Result<std::vector<api::Token>> tokens_of(const config::Access& access) {
  std::vector<api::Token> tokens;
  for (const auto& token : access.tokens)
    tokens.push_back(
        {token.name, HOSTLER_TRY(api::parse_role(token.role)), token.sha256, token.pools});
  return tokens;
}

api::Limits api_limits(const config::Limits& limits) {
  api::Limits out;
  out.submit_bytes_max = static_cast<std::size_t>(limits.body_max);
  out.submit_jobs_max = limits.jobs_per_submit_max;
  out.blob_bytes_max = static_cast<std::uint64_t>(limits.blob_max);
  out.job = limits.job;
  return out;
}

Result<void> check_take_over_sets(const std::vector<std::string>& named,
                                  const model::SitePolicy& site) {
  std::string all;
  for (const auto& set : site.sets) all += (all.empty() ? "" : ", ") + set.name;
  for (const auto& name : named)
    if (std::ranges::find(site.sets, name, &model::SetPolicy::name) == site.sets.end())
      return fail(Errc::kInvalidArgument,
                  "--take-over-set " + name + ": there is no such instance set; there are " + all);
  return {};
}

}  // namespace hostler::daemon
