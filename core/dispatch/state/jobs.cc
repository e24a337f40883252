#include "core/dispatch/state/jobs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

/// Its place among model::kLiveStates.
std::size_t index_of(WorkState live) {
  const auto& all = model::kLiveStates;
  return static_cast<std::size_t>(std::ranges::find(all, live) - all.begin());
}

}  // namespace

/// A job that waits, without its place in the queue.
work::Job& Jobs::insert(const model::WorkItem& item) {
  const auto [at, fresh] = jobs_.try_emplace(item.record.id);
  HOSTLER_ASSERT(fresh, "a job is accepted once");
  work::Job& made = at->second;
  made.id = item.record.id;
  made.arrival = item.arrival;
  made.cls = waiting_.intern(item.shape, made.id.kind);
  made.principal = principals_.intern(item.principal);
  made.attempts_max = item.shape.attempts_max;
  made.start_failures_max = item.shape.start_failures_max;
  made.restartable = item.shape.restartable;
  ++counts_[index_of(made.counted)];
  return made;
}

void Jobs::restore(model::WorkItem item, Mono waiting_since) {
  work::Job& known = insert(item);
  known.queued = item.record.state == WorkState::kQueued;
  if (item.record.attempt > 0 || item.record.restored || !known.queued)
    known.record = std::make_unique<model::WorkRecord>(std::move(item.record));
  count(known);
  if (known.queued) waiting_.enter(place_of(known), waiting_since);
}

model::WorkId Jobs::add(model::WorkItem& item, Mono now) {
  item.record.id = {waiting_.next_number()};
  item.arrival = waiting_.next_arrival();
  const work::Job& made = insert(item);
  waiting_.enter(place_of(made), now);
  if (!item.client_key.empty())
    principals_.client_keys().add(item.principal, item.client_key, {item.client_digest, made.id});
  return made.id;
}

work::Job& Jobs::add_known(model::WorkItem& item, Mono now) {
  item.arrival = waiting_.next_arrival();
  restore(item, now);
  return *find(item.record.id);
}

work::Job* Jobs::find(model::WorkId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const work::Job* Jobs::find(model::WorkId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

work::Job* Jobs::find(const model::AttemptId& attempt) {
  work::Job* found = find(attempt.work);
  return found != nullptr && found->attempt() == attempt ? found : nullptr;
}

work::Job& Jobs::pop(demand::ClassId cls, model::Micros per_hour) {
  work::Job* first = find(waiting_.pop(cls, {per_hour}));
  HOSTLER_ASSERT(first != nullptr && first->queued, "the queue holds jobs that wait");
  return *first;
}

void Jobs::withdraw(const work::Job& job) { (void)waiting_.leave(place_of(job)); }

bool Jobs::settle(work::Job& job, work::Next next, Mono now) {
  count(job);
  const WorkState state = job.state();
  const bool may_run_more =
      state != WorkState::kStarting && state != WorkState::kRunning && release(job, now);
  if (next == work::Next::kQueueAgain) {
    waiting_.enter(place_of(job), now);
    return true;
  }
  if (next != work::Next::kEnd) return may_run_more;
  const bool waited = waiting_.leave(place_of(job));  // It was cancelled while it waited.
  const model::WorkId id = job.id;
  waiting_.release(job.cls);
  jobs_.erase(id);
  return waited || may_run_more;
}

void Jobs::count(work::Job& job) {
  const WorkState state = job.state();
  if (job.counted == state) return;
  auto& before = counts_[index_of(job.counted)];
  HOSTLER_ASSERT(before > 0, "a job that leaves a state was counted in it");
  --before;
  job.counted = state;
  if (!model::is_terminal(state)) ++counts_[index_of(state)];
}

std::vector<model::WorkId> Jobs::placed() const {
  std::vector<model::WorkId> out;
  for (const auto& [id, job] : jobs_)
    if (job.is_placed()) out.push_back(id);
  std::ranges::sort(out);
  return out;
}

std::vector<model::WorkId> Jobs::held() const {
  std::vector<model::WorkId> out;
  if (counts_[index_of(WorkState::kHeld)] == 0) return out;
  for (const auto& [id, job] : jobs_)
    if (job.state() == WorkState::kHeld) out.push_back(id);
  std::ranges::sort(out);
  return out;
}

void Jobs::hold(work::Job& job, model::Micros per_hour, Mono now) {
  HOSTLER_ASSERT(job.held_per_hour.value == 0, "a job holds one part of one host");
  job.held_per_hour = per_hour;
  principals_.hold(job.principal, job.cls, model::Amounts::of(needs(job), per_hour), now);
}

bool Jobs::release(work::Job& job, Mono now) {
  if (job.held_per_hour.value == 0) return false;
  const auto part = model::Amounts::of(needs(job), std::exchange(job.held_per_hour, {}));
  return principals_.release(job.principal, part, now);
}

}  // namespace hostler::dispatch
