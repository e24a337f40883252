#include "core/dispatch/handlers/restored_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hostler::dispatch {

void RestoredWork::apply(model::Restored& restored, Now now) {
  jobs_.restore_last(restored.last_work);
  waiting_.restore_last(restored.last_arrival);
  for (auto& key : restored.client_keys)
    principals_.client_keys().add(std::move(key.principal), std::move(key.key),
                                  {std::move(key.digest), key.work});
  principals_.set_half_life(policy_.half_life, now.mono);
  principals_.set_quotas(policy_.quotas);
  for (const auto& use : restored.uses) principals_.restore(use, now);
  for (auto& item : restored.work) take(std::move(item), now);
  for (const auto& row : restored.attempts) take(row, now);
  settle_orphaned_jobs(now);
}

void RestoredWork::take(model::WorkItem item, Now now) {
  // No other kind can be submitted yet. A row of one stays in the store as it is.
  if (item.record.id.kind != model::WorkKind::kJob) return;
  // By a wall clock that may have jumped: within reason.
  const Duration age =
      std::clamp<Duration>(now.wall - item.submitted, Duration::zero(), std::chrono::hours(24));
  jobs_.restore(std::move(item), now.mono - age);
}

void RestoredWork::take(const model::AttemptChanged& row, Now now) {
  Host* host = hosts_.change(row.instance);
  work::Job* job = jobs_.find(row.attempt);
  if (host == nullptr || job == nullptr || !job->is_placed()) return;
  auto& instance = host->instance;
  instance.record.last_sequence = std::max(instance.record.last_sequence, row.sequence);
  const model::Resources needs = jobs_.needs(*job);
  const auto state = job->state();
  if (state == model::WorkState::kStarting || state == model::WorkState::kRunning)
    jobs_.hold(*job,
               demand::price_of_part(instance.record.price_per_hour, needs, instance.record.total,
                                     instance.record.jobs_max),
               now.mono);
  instance.occupancy.add(
      {row.attempt, row.boot_id, row.sequence, needs, row.state == model::AttemptState::kEnded,
       fleet::output_size(job->record->stdout_bytes, job->record->stderr_bytes)});
}

void RestoredWork::settle_orphaned_jobs(Now now) {
  for (const auto id : jobs_.placed()) {
    work::Job& job = *jobs_.find(id);
    const Host* host = hosts_.find(job.record->instance);
    if (host != nullptr && host->instance.occupancy.find(job.attempt()) != nullptr) continue;
    steps_.apply(job, work::host_gone(job, "its instance is gone", now), now);
  }
}

}  // namespace hostler::dispatch
