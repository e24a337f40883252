#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/dispatcher.h"

/// Hosts of the set "west" and the pool "default" that are ready, for benchmarks of a dispatcher.
namespace hostler::dispatch {

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Names and secrets by number.
inline CreateSecretsFactory numbered_secrets() {
  return [made = std::make_shared<std::uint64_t>(0)](
             const model::PoolPolicy&, const std::string&, const model::SetInfo&,
             model::CreateRequest& request, model::HostIdentity& identity) {
    request.idempotency_key = "new-" + std::to_string(++*made);
    identity.challenge_secret = "secret";
  };
}

/// The row of h-`h`, of type t8.
inline model::InstanceChanged ready_host(std::uint64_t h) {
  model::InstanceChanged out;
  auto& r = out.record;
  r.id = {h};
  r.set = "west";
  r.pool = "default";
  r.type = "t8";
  r.price_per_hour = {80'000};
  r.state = model::InstanceState::kIdle;
  r.provider_id = "i-" + std::to_string(h);
  r.idempotency_key = "key-" + std::to_string(h);
  r.address = "10.0.0.1";
  r.identity.public_key = "key";
  r.identity.verified_by = model::VerifyMethod::kDelivered;
  r.total = {.vcpus = 8, .gpus = 0, .ram = 8 * 2048 * kMiB, .scratch = 0};
  return out;
}

/// The same as its cloud lists it.
inline model::ListedInstance listed_host(std::uint64_t h) {
  model::ListedInstance out;
  out.id = "i-" + std::to_string(h);
  out.idempotency_key = "key-" + std::to_string(h);
  out.set_id = "west";
  out.owner = "us";
  out.state = model::CloudState::kRunning;
  out.pool = "default";
  out.type = "t8";
  out.idle = "run";
  out.address = "10.0.0.1";
  return out;
}

/// A list of h-1 to h-`hosts`.
inline SetListed listed_hosts(std::uint64_t hosts, Mono sent) {
  std::vector<model::ListedInstance> all;
  for (std::uint64_t h = 1; h <= hosts; ++h) all.push_back(listed_host(h));
  return {"west", sent, model::share(std::move(all))};
}

/// It is proved, and its agent answers.
inline std::vector<Event> reports_of_ready_host(std::uint64_t h) {
  model::HostReady ready;
  ready.boot_id = "boot";
  ready.connection = 1;
  return {model::HostEvent{{h}, model::HostVerified{model::VerifyMethod::kDelivered, "key"}},
          model::HostEvent{{h}, std::move(ready)}};
}

}  // namespace hostler::dispatch
