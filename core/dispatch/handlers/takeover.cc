#include "core/dispatch/handlers/takeover.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/demand/shares.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

/// Of one host, since the start: it may report any number of them.
constexpr std::uint32_t kTakenOverMax = 1000;

}  // namespace

bool Takeover::take(Host& host, const model::AttemptId& attempt, Now now) {
  if (!lost_time_.may_have_work(host.instance.record.epoch)) return false;
  if (work::Job* job = jobs_.find(attempt.work)) return take_later(host, *job, attempt, now);
  return take_unknown(host, attempt, now);
}

bool Takeover::is_unknown(const Host& host, model::WorkId work) const {
  if (host.instance.record.epoch >= recorder_.epoch()) return false;
  return work.value > waiting_.last_number() || lost_time_.has(work);
}

bool Takeover::is_disputed(const Host& host, const model::AttemptId& attempt,
                           model::AttemptPhase phase) const {
  if (!lost_time_.may_have_work(host.instance.record.epoch)) return false;
  const bool runs = phase == model::AttemptPhase::kRunning;
  const work::Job* job = jobs_.find(attempt.work);
  if (job == nullptr) return runs && lost_time_.is_left_out(attempt.work);
  if (!job->record || !job->record->restored) return false;
  return runs || (phase == model::AttemptPhase::kEnded && attempt.number > job->record->attempt);
}

bool Takeover::is_last_to_report(const Host& host) const {
  return std::ranges::none_of(hosts_.all(), [&](const auto& entry) {
    const fleet::Instance& other = entry.second.instance;
    return entry.first != host.id() && other.record.restored &&
           fleet::evidence_of(other, policy_.pools[other.pool]) == model::Readiness::kAgent;
  });
}

bool Takeover::take_later(Host& host, work::Job& job, const model::AttemptId& attempt, Now now) {
  if (!job.record || !job.record->restored || attempt.number <= job.record->attempt) return false;
  const auto state = job.state();
  if (state == model::WorkState::kCollecting) return false;
  if (state == model::WorkState::kQueued) {
    jobs_.withdraw(job);
  } else if (state != model::WorkState::kHeld) {
    // A later attempt began, so the one that the journal has is over.
    Host* before = hosts_.change(job.record->instance);
    if (before != nullptr && !before->instance.record.restored) return false;  // It says otherwise.
    if (before != nullptr) rows_.withdraw(*before, job.attempt());
    steps_.apply(job, work::superseded(job, attempt.text() + " runs on " + host.id().text()), now);
  }
  put(host, job, attempt, now);
  return true;
}

bool Takeover::take_unknown(Host& host, const model::AttemptId& attempt, Now now) {
  if (!lost_time_.has(attempt.work) || attempt.work.kind != model::WorkKind::kJob ||
      host.unknown_work.taken_over >= kTakenOverMax)
    return false;
  ++host.unknown_work.taken_over;
  lost_time_.take(attempt.work);
  model::WorkItem item;
  item.record.id = attempt.work;
  item.record.state = model::WorkState::kHeld;
  item.record.restored = true;
  item.shape.needs =
      host.instance.record.total;  // Not known: nothing else that needs any is placed there.
  // Its command is not known: it is never started from here.
  item.shape.attempts_max = item.shape.start_failures_max = 1;
  item.principal = item.name = kUnknownHolder;
  item.submitted = now.wall;
  item.body = std::make_shared<const std::string>("{}");
  work::Job& job = jobs_.add_known(item, now.mono);
  recorder_.change(std::move(item));
  put(host, job, attempt, now);
  return true;
}

void Takeover::put(Host& host, work::Job& job, const model::AttemptId& attempt, Now now) {
  auto& instance = host.instance;
  const model::Resources needs = jobs_.needs(job);
  fleet::PlacedAttempt placed{attempt, instance.record.boot_id, 0, needs};
  placed.cards = instance.occupancy.reported_cards(attempt);
  recorder_.change(AttemptRows::row_of(host, placed));
  instance.occupancy.add(std::move(placed));
  steps_.apply(job, work::taken_over(job, attempt.number, host.id(), instance.record.created, now),
               now);
  jobs_.hold(job,
             demand::price_of_part(instance.record.price_per_hour, needs, instance.record.total,
                                   instance.record.jobs_max),
             now.mono);
}

}  // namespace hostler::dispatch
