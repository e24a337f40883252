#include "core/dispatch/state/jobs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/base/assert.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

/// How often the use of principals is brought up to date and journalled, while they hold something.
constexpr Duration kUseInterval = std::chrono::seconds(10);

/// Its place among model::kLiveStates.
std::size_t index_of(WorkState live) {
  const auto& all = model::kLiveStates;
  return static_cast<std::size_t>(std::ranges::find(all, live) - all.begin());
}

demand::Allowance limits_of(const model::Quotas& quotas, const std::string& principal) {
  const model::Quota quota = quotas.of(principal);
  return {.vcpus = quota.running_vcpus_max, .price_per_hour = quota.running_price_per_hour_max};
}

}  // namespace

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
  ++counts_[index_of(made.counted)];
  return made;
}

void Jobs::restore(model::WorkItem item, Mono waiting_since) {
  work::Job& known = insert(item);
  known.queued = item.record.state == WorkState::kQueued;
  if (item.record.attempt > 0 || item.record.restored || !known.queued)
    known.record = std::make_unique<model::WorkRecord>(std::move(item.record));
  count(known);
  if (known.queued) enter_queue(known, waiting_since);
}

void Jobs::restore(const model::PrincipalUse& use, Now now) {
  const auto id = principal(use.principal);
  // By a wall clock that may have jumped, and a row that may say anything.
  const Wall latest = std::max(now.wall, Wall{});
  const Duration age = latest - std::clamp(use.as_of, Wall{}, latest);
  shares_.restore(id, static_cast<double>(use.use.value), age, now.mono);
  use_changed(id, now.mono);
}

void Jobs::set_half_life(Duration half_life, Mono now) {
  shares_.set_half_life(half_life, now);
  use_changed(0, now);
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

work::Job& Jobs::add_known(model::WorkItem& item, Mono now) {
  item.arrival = ++last_arrival_;
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

void Jobs::set_quotas(const model::Quotas& quotas) {
  quotas_ = quotas;
  for (demand::PrincipalId p = 0; p < principals_.size(); ++p) {
    limits_[p] = limits_of(quotas_, principals_[p]);
    update_allowance(p);
  }
}

void Jobs::update_allowance(demand::PrincipalId principal) {
  demand::Allowance left = limits_[principal];
  if (left.is_limited()) {
    const auto held = shares_.held(principal);
    if (left.vcpus) *left.vcpus -= held.vcpus;
    if (left.price_per_hour) left.price_per_hour->value -= held.price_per_hour.value;
  } else if (!queue_.allowance(principal).is_limited()) {
    return;
  }
  queue_.set_allowance(principal, left);
}

work::Job& Jobs::pop(demand::ClassId cls, model::Micros per_hour) {
  work::Job* first = find(queue_.pop(cls, per_hour).work);
  HOSTLER_ASSERT(first != nullptr && first->queued, "the queue holds jobs that wait");
  waiting_.remove(first->principal, first->cls);
  return *first;
}

bool Jobs::settle(work::Job& job, work::Next next, Mono now) {
  count(job);
  const WorkState state = job.state();
  const bool may_run_more =
      state != WorkState::kStarting && state != WorkState::kRunning && release(job, now);
  if (next == work::Next::kQueueAgain) {
    enter_queue(job, now);
    return true;
  }
  if (next != work::Next::kEnd) return may_run_more;
  const bool waited = leave_queue(job);  // It was cancelled while it waited.
  const model::WorkId id = job.id;
  queue_.release(job.cls);
  jobs_.erase(id);
  return waited || may_run_more;
}

void Jobs::enter_queue(const work::Job& job, Mono since) {
  queue_.push(job.cls, {job.arrival, job.id, since}, job.principal);
  waiting_.add(job.principal, job.cls);
}

bool Jobs::leave_queue(const work::Job& job) {
  const bool waited = queue_.erase(job.cls, job.arrival, job.principal);
  if (waited) waiting_.remove(job.principal, job.cls);
  return waited;
}

const WaitingCounts::Of& Jobs::waiting_of(const std::string& principal) const {
  const auto found = principal_ids_.find(principal);
  return waiting_.of(found == principal_ids_.end() ? UINT32_MAX : found->second);
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

const std::string& Jobs::principal_of(const work::Job& job) const {
  return principals_[job.principal];
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

demand::PrincipalId Jobs::principal(const std::string& name) {
  const auto [found, fresh] =
      principal_ids_.try_emplace(name, static_cast<demand::PrincipalId>(principals_.size()));
  if (fresh) {
    principals_.push_back(name);
    limits_.push_back(limits_of(quotas_, name));
    update_allowance(found->second);
  }
  return found->second;
}

void Jobs::hold(work::Job& job, model::Micros per_hour, Mono now) {
  HOSTLER_ASSERT(job.held_per_hour.value == 0, "a job holds one part of one host");
  job.held_per_hour = per_hour;
  shares_.hold(job.principal, per_hour, queue_.at(job.cls).shape.needs.vcpus, now);
  queue_.set_price(job.cls, per_hour);
  update_allowance(job.principal);
  use_changed(job.principal, now);
}

bool Jobs::release(work::Job& job, Mono now) {
  if (job.held_per_hour.value == 0) return false;
  shares_.release(job.principal, std::exchange(job.held_per_hour, {}),
                  queue_.at(job.cls).shape.needs.vcpus, now);
  update_allowance(job.principal);
  use_changed(job.principal, now);
  return limits_[job.principal].is_limited() && queue_.count(job.principal) > 0;
}

demand::Shares::Held Jobs::held_by(const std::string& principal) const {
  const auto found = principal_ids_.find(principal);
  return found == principal_ids_.end() ? demand::Shares::Held{} : shares_.held(found->second);
}

void Jobs::use_changed(demand::PrincipalId principal, Mono now) {
  if (use_tick_ == fleet::kNever) use_tick_ = now + kUseInterval;
  if (!shares_.take_rescaled()) return queue_.set_key(principal, shares_.key(principal));
  for (demand::PrincipalId p = 0; p < principals_.size(); ++p) queue_.set_key(p, shares_.key(p));
}

std::vector<model::PrincipalUse> Jobs::use_changes(Now now) {
  shares_.accrue(now.mono);
  std::vector<model::PrincipalUse> out;
  for (const auto id : shares_.take_changed()) {
    use_changed(id, now.mono);
    const double use = std::min(std::round(shares_.use(id, now.mono)), 9e18);
    out.push_back({principals_[id], {static_cast<std::int64_t>(use)}, now.wall});
  }
  use_tick_ = shares_.is_anything_held() ? now.mono + kUseInterval : fleet::kNever;
  return out;
}

}  // namespace hostler::dispatch
