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

// ---- rows of a backup, with which a start goes on (--restored) ----------------------------------

inline constexpr std::uint64_t kLeftOut = 1'000'000;

/// j-5 waited when the backup was made; h-7 was idle.
inline model::Restored restored_site(model::Restored site = busy_site()) {
  site.epoch = site.restored_epoch = 1'001;
  site.left_out = {{site.last_work + 1, site.last_work + kLeftOut}};
  site.last_work += kLeftOut;
  site.last_instance += kLeftOut;
  site.last_arrival += kLeftOut;
  site.goes_on = true;
  for (auto& item : site.work) item.record.restored = true;
  for (auto& row : site.instances) row.record.restored = true;
  return site;
}

inline model::Restored waiting_site() {
  auto site = busy_site();
  site.work = {job(WorkState::kHeld)};
  site.work[0].record.reason_text = "it waited";
  site.attempts.clear();
  site.instances[0].record.state = InstanceState::kIdle;
  return restored_site(std::move(site));
}

inline model::Restored running_site(bool restartable) {
  auto site = restored_site();
  site.work[0].shape.restartable = restartable;
  return site;
}

/// Work of the lost time.
inline constexpr WorkId kForeign{77};

/// h-6, idle when the backup was made.
inline model::InstanceChanged second_host() {
  auto out = instance(InstanceState::kIdle);
  out.record.id = {6};
  out.record.provider_id = "i-6";
  out.record.idempotency_key = "key-6";
  out.record.restored = true;
  return out;
}

}  // namespace hostler::dispatch
