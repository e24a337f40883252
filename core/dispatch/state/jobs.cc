#include "core/dispatch/state/jobs.h"

#include <algorithm>
#include <memory>

#include "core/base/assert.h"

namespace hostler::dispatch {

using model::WorkState;

void Jobs::restore_last(std::uint64_t work, std::uint64_t arrival) {
  last_work_ = work;
  last_arrival_ = arrival;
}

void Jobs::restore_client_key(std::string principal, std::string key, std::string digest,
                              model::WorkId id) {
  client_keys_.add(std::move(principal), std::move(key), {std::move(digest), id});
}

/// A job that waits, without its place in the queue.
work::Job& Jobs::insert(const model::WorkItem& item) {
  const auto [at, fresh] = jobs_.try_emplace(item.record.id);
  HOSTLER_ASSERT(fresh, "a job is accepted once");
  work::Job& made = at->second;
  made.id = item.record.id;
  made.arrival = item.arrival;
  made.cls = queue_.intern(item.shape, made.id.kind);
  made.principal = principal(item.principal);
  made.attempts_max = item.shape.attempts_max;
  made.start_failures_max = item.shape.start_failures_max;
  made.restartable = item.shape.restartable;
  ++counts_[static_cast<std::size_t>(made.counted)];
  return made;
}

void Jobs::restore(model::WorkItem item, Mono waiting_since) {
  work::Job& known = insert(item);
  known.queued = item.record.state == WorkState::kQueued;
  if (item.record.attempt > 0 || !known.queued)
    known.record = std::make_unique<model::WorkRecord>(std::move(item.record));
  count(known);
  if (known.queued) enter_queue(known, waiting_since);
}

model::WorkId Jobs::add(model::WorkItem& item, Mono now) {
  item.record.id = {++last_work_};
  item.arrival = ++last_arrival_;
  const work::Job& made = insert(item);
  enter_queue(made, now);
  if (!item.client_key.empty())
    client_keys_.add(item.principal, item.client_key, {item.client_digest, made.id});
  return made.id;
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

work::Job& Jobs::pop(scheduler::ClassId cls) {
  work::Job* first = find(queue_.pop(cls).work);
  HOSTLER_ASSERT(first != nullptr && first->queued, "the queue holds jobs that wait");
  waiting_.remove(first->principal, first->cls);
  return *first;
}

bool Jobs::settle(work::Job& job, work::Next next, Mono now) {
  count(job);
  if (next == work::Next::kQueueAgain) {
    enter_queue(job, now);
    return true;
  }
  if (next != work::Next::kEnd) return false;
  const bool waited = leave_queue(job);  // It was cancelled while it waited.
  const model::WorkId id = job.id;
  jobs_.erase(id);
  return waited;
}

void Jobs::enter_queue(const work::Job& job, Mono since) {
  queue_.push(job.cls, {job.arrival, job.id, since});
  waiting_.add(job.principal, job.cls);
}

bool Jobs::leave_queue(const work::Job& job) {
  const bool waited = queue_.erase(job.cls, job.arrival);
  if (waited) waiting_.remove(job.principal, job.cls);
  return waited;
}

const WaitingCounts::Of& Jobs::waiting_of(const std::string& principal) const {
  const auto found = std::ranges::find(principals_, principal);
  return waiting_.of(static_cast<std::uint32_t>(found - principals_.begin()));
}

void Jobs::count(work::Job& job) {
  const WorkState state = job.state();
  if (job.counted == state) return;
  auto& before = counts_[static_cast<std::size_t>(job.counted)];
  HOSTLER_ASSERT(before > 0, "a job that leaves a state was counted in it");
  --before;
  job.counted = state;
  if (!model::is_terminal(state)) ++counts_[static_cast<std::size_t>(state)];
}

const std::string& Jobs::principal_of(const work::Job& job) const {
  return principals_[job.principal];
}

std::vector<model::WorkId> Jobs::placed() const {
  std::vector<model::WorkId> out;
  for (const auto& [id, job] : jobs_)
    if (!job.queued) out.push_back(id);
  std::ranges::sort(out);
  return out;
}

std::uint32_t Jobs::principal(const std::string& name) {
  const auto found = std::ranges::find(principals_, name);
  if (found != principals_.end()) return static_cast<std::uint32_t>(found - principals_.begin());
  principals_.push_back(name);
  return static_cast<std::uint32_t>(principals_.size() - 1);
}

}  // namespace hostler::dispatch
