#include "core/dispatch/handlers/restored_work.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace hostler::dispatch {
namespace {

/// By a wall clock that may have jumped: within reason.
Mono waiting_since(const model::WorkItem& item, Now now) {
  return now.mono -
         std::clamp<Duration>(now.wall - item.submitted, Duration::zero(), std::chrono::hours(24));
}

}  // namespace

void RestoredWork::apply(model::Restored& restored, Now now) {
  waiting_.restore_last_number(restored.last_work);
  waiting_.restore_last_arrival(restored.last_arrival);
  for (auto& key : restored.client_keys)
    principals_.client_keys().add(std::move(key.principal), std::move(key.key),
                                  {std::move(key.digest), key.work});
  principals_.set_half_life(policy_.half_life, now.mono);
  principals_.set_quotas(policy_.quotas);
  for (const auto& use : restored.uses) principals_.restore(use, now);
  std::map<model::WorkId, model::LeaseRecord> terms;
  for (const auto& row : restored.leases) terms[row.id] = row;
  for (auto& item : restored.work) {
    const auto lease = terms.find(item.record.id);
    if (lease != terms.end())
      take(item, lease->second, now);
    else
      take(std::move(item), now);
  }
  for (const auto& row : restored.attempts) take(row, now);
  settle_orphaned_jobs(now);
  claim_hosts(now);
}

void RestoredWork::take(model::WorkItem item, Now now) {
  // A row of another kind stays in the store as it is.
  if (item.record.id.kind != model::WorkKind::kJob) return;
  const Mono since = waiting_since(item, now);
  jobs_.restore(std::move(item), since);
}

void RestoredWork::take(const model::WorkItem& item, const model::LeaseRecord& terms, Now now) {
  leases_.restore(item, terms, waiting_since(item, now), now);
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
  fleet::PlacedAttempt placed{
      row.attempt,
      row.boot_id,
      row.sequence,
      needs,
      row.state == model::AttemptState::kEnded,
      fleet::output_size(job->record->stdout_bytes, job->record->stderr_bytes)};
  placed.cards = row.cards;
  instance.occupancy.add(std::move(placed));
}

void RestoredWork::settle_orphaned_jobs(Now now) {
  for (const auto id : jobs_.placed()) {
    work::Job& job = *jobs_.find(id);
    const Host* host = hosts_.find(job.record->instance);
    if (host != nullptr && host->instance.occupancy.find(job.attempt()) != nullptr) continue;
    steps_.apply(job, work::host_gone(job, "its instance is gone", now), now);
  }
}

void RestoredWork::claim_hosts(Now now) {
  for (const auto id : leases_.placed()) {
    work::Lease& lease = *leases_.find(id);
    Host* host = hosts_.change(lease.record.instance);
    if (host == nullptr || host->instance.occupancy.in_use()) {
      const std::string why =
          host == nullptr ? "its instance is gone"
                          : "other work is on " + host->id().text() + ": the rows of both name it";
      lease_steps_.apply(lease, work::host_gone(lease, why, false, now), now);
      continue;
    }
    lending_.claim(*host, lease, now);
    // Nobody knows how its cleaning command has ended: it ends in the next turn. An account is
    // closed again, once the host may have connected.
    const bool is_destroyed =  // Then the lease ends with its host.
        host->instance.record.state == model::InstanceState::kTerminating;
    if (lease.state() == model::WorkState::kCollecting && !is_destroyed)
      leases_.set_due(lease, lease.has_account() ? now.mono + accounts_.grace_of(*host) : now.mono);
  }
}

}  // namespace hostler::dispatch
