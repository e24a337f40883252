#pragma once

#include "tests/unit/dispatch/story.h"

/// Rows of a journal that a restart finds.
namespace hostler::dispatch {

using model::AttemptState;

inline model::InstanceChanged instance(InstanceState state) {
  model::InstanceChanged out;
  auto& r = out.record;
  r.id = {7};
  r.set = "west";
  r.pool = "default";
  r.type = "small";
  r.price_per_hour = {60};
  r.state = state;
  r.idempotency_key = "key-old";
  if (state != InstanceState::kRequested) {
    r.provider_id = "i-7";
    r.address = "10.0.0.7";
  }
  if (state == InstanceState::kBusy) r.boot_id = "boot-1";
  return out;
}

inline model::WorkItem job(WorkState state, std::uint32_t attempt = 0) {
  model::WorkItem out;
  out.record.id = {5};
  out.record.state = state;
  out.record.attempt = out.record.starts = attempt;
  if (attempt > 0) out.record.instance = {7};
  out.arrival = 5;
  out.shape.needs = {.vcpus = 2, .gpus = 0, .ram = kGiB, .scratch = 0};
  out.principal = "user ann";
  return out;
}

inline model::AttemptChanged attempt(AttemptState state) {
  model::AttemptChanged out;
  out.attempt = {{5}, 1};
  out.instance = {7};
  out.boot_id = "boot-1";
  out.sequence = 12;
  out.state = state;
  return out;
}

/// One running job on one host.
inline model::Restored busy_site() {
  model::Restored out;
  out.last_work = 5;
  out.last_instance = 7;
  out.last_arrival = 5;
  out.last_revision = 100;
  out.instances = {instance(InstanceState::kBusy)};
  out.work = {job(WorkState::kRunning, 1)};
  out.attempts = {attempt(AttemptState::kIntended)};
  return out;
}

}  // namespace hostler::dispatch
