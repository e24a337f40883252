#include "tests/sim/decisions.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/agent/bounds.h"
#include "core/demand/queue.h"
#include "core/demand/shares.h"

namespace hostler::sim {
namespace {

using model::WorkState;
using namespace std::chrono_literals;

/// A job of another shape that has waited for so long was seen by every plan.
constexpr Duration kSeenByPlans = 10s;
/// Of the policy: `starvation_after`.
constexpr Duration kStarving = 1min;

bool is_within(std::int64_t value, std::int64_t max) { return value >= 0 && value <= max; }

/// As core/agent/bounds.h says.
template <class End>
bool is_possible(const End& end) {
  return is_within(end.exit_code, 255) && is_within(end.signal, 64) &&
         is_within(end.cpu_us, agent::kCpuMax) && is_within(end.ram_peak, agent::kRamMax) &&
         is_within(end.started.us, agent::kTimeLast) && is_within(end.ended.us, agent::kTimeLast);
}

}  // namespace

Cause::Cause(const dispatch::Event& event) {
  const auto* news = std::get_if<model::HostEvent>(&event);
  if (news == nullptr) return;
  host = news->instance;
  is_broken = std::holds_alternative<model::HostBroken>(news->body);
}

void Decisions::restart() {
  jobs_.clear();
  waiting_.clear();
  starved_.clear();
  broken_.clear();
  submits_.clear();
  for (const auto& [id, row] : disk_.jobs()) {
    if (model::is_terminal(row.record.state) || id.kind != model::WorkKind::kJob) continue;
    const auto& record = row.record;
    jobs_[id] = {row.principal, row.shape,    record.state, record.instance,
                 record.placed, record.ended, Mono{}};
    if (record.state == WorkState::kQueued) waits(jobs_[id]);
  }
  for (const auto& [id, row] : disk_.instances())
    if (row.record.health == model::Health::kBroken) broken_.insert(id);
}

void Decisions::check(const Cause& cause, const dispatch::Outbox& outbox,
                      const dispatch::Queries& queries, Now now) {
  cause_ = cause;
  now_ = now;
  accepted_.clear();
  starts_.clear();
  for (const auto& change : outbox.changes) std::visit([&](const auto& row) { on(row); }, change);
  if (cause.is_broken) broken_.insert(*cause.host);
  for (const auto& effect : outbox.effects)
    if (const auto* command = std::get_if<model::HostCommand>(&effect))
      if (const auto* start = std::get_if<model::StartAttempt>(command))
        if (broken_.contains(start->instance))
          complain_(start->attempt.text() + " is sent to " + start->instance.text() +
                    ", which is broken");
  check_quotas(queries.policy());
  if (!starts_.empty()) check_turns(queries);
}

/// Leases take turns with jobs, but not on the same hosts: Borrowers checks them.
void Decisions::on(const model::WorkItem& row) {
  const auto& record = row.record;
  if (record.id.kind != model::WorkKind::kJob) return;
  Job job{row.principal, row.shape,    record.state, record.instance,
          record.placed, record.ended, now_.mono};
  if (record.state == WorkState::kQueued) {  // Else a restored daemon takes it over.
    waits(job);
    accepted_.push_back(job);
  }
  jobs_.emplace(record.id, std::move(job));
}

void Decisions::on(const model::WorkChanged& row) {
  const auto& record = row.record;
  const auto found = jobs_.find(record.id);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const std::string name = record.id.text();
  check_news(name, job.instance, record.instance);
  if (!is_possible(record)) complain_(name + " has a number that cannot be");
  job.placed = record.placed;
  if (job.ended.us == 0) check_bill(name, job, record.started, record.ended);
  if (job.state == WorkState::kQueued && record.state != WorkState::kQueued) {
    waits_no_more(job);
    if (job.since + kStarving <= now_.mono)
      starved_[demand::Queue::class_shape(job.shape)] = now_.mono;
    if (record.state == WorkState::kStarting)
      starts_.push_back(
          {job.principal, job.shape.needs, record.instance, rivals_of(job, record.instance)});
  }
  if (job.state != WorkState::kQueued && record.state == WorkState::kQueued) {
    job.since = now_.mono;
    waits(job);
  }
  job.state = record.state;
  job.instance = record.instance;
  job.ended = record.ended;
  if (model::is_terminal(record.state)) jobs_.erase(found);
}

void Decisions::on(const model::AttemptChanged& row) {
  check_news(row.attempt.text(), row.instance, row.instance);
  if (!row.end) return;
  if (!is_possible(*row.end)) complain_(row.attempt.text() + " has a number that cannot be");
  const auto job = jobs_.find(row.attempt.work);
  if (job != jobs_.end() && job->second.ended.us == 0)
    check_bill(row.attempt.text(), job->second, row.end->started, row.end->ended);
}

/// A host's report concerns work on this host only. After an old state was put back, a later
/// attempt of a job shows that the one before it, on another host, is over.
void Decisions::check_news(const std::string& what, model::InstanceId before,
                           model::InstanceId after) {
  if (disk_.was_put_back()) return;
  if (cause_.host && before != *cause_.host && after != *cause_.host)
    complain_(what + " is changed by a report of " + cause_.host->text() + ", and it is not there");
}

void Decisions::check_bill(const std::string& what, const Job& job, Wall started, Wall ended) {
  if (started.us == 0 || ended.us == 0) return;
  const std::int64_t seen = std::max<std::int64_t>(0, now_.wall.us - job.placed.us);
  if (ended.us - started.us > seen)
    complain_(what + " is billed for longer than the daemon saw it");
}

// ---- users -------------------------------------------------------------------------------------

void Decisions::waits(const Job& job) {
  waiting_[demand::Queue::class_shape(job.shape)][job.principal].insert(job.since);
}

void Decisions::waits_no_more(const Job& job) {
  const auto shape = waiting_.find(demand::Queue::class_shape(job.shape));
  auto& all = shape->second[job.principal];
  all.erase(all.find(job.since));
  if (all.empty()) shape->second.erase(job.principal);
  if (shape->second.empty()) waiting_.erase(shape);
}

/// All jobs of one decision come from one submit.
void Decisions::check_quotas(const model::SitePolicy& policy) {
  if (accepted_.empty()) return;
  const std::string& who = accepted_.front().principal;
  const model::Quota quota = policy.quotas.of(who);
  const auto exceeds = [&](const std::optional<std::int64_t>& limit, std::size_t there,
                           const char* what) {
    if (limit && there > static_cast<std::size_t>(*limit))
      complain_(who + " has " + std::to_string(there) + " " + what + ", the quota is " +
                std::to_string(*limit));
  };
  for (const Job& job : accepted_)
    if (quota.priority_max && job.shape.priority > *quota.priority_max)
      complain_(who + " submits with priority " + std::to_string(job.shape.priority));
  std::size_t jobs = 0, shapes = 0;
  for (const auto& [shape, users] : waiting_) {
    const auto mine = users.find(who);
    if (mine == users.end()) continue;
    jobs += mine->second.size();
    ++shapes;
  }
  exceeds(quota.jobs_waiting_max, jobs, "jobs that wait");
  // Jobs that lost their hosts wait again, whatever the quota: no more shapes than before.
  const bool has_new_shape = std::ranges::any_of(accepted_, [&](const Job& job) {
    const auto cls = demand::Queue::class_shape(job.shape);
    const auto same = std::ranges::count_if(accepted_, [&](const Job& other) {
      return demand::Queue::class_shape(other.shape) == cls;
    });
    return waiting_.at(cls).at(who).size() == static_cast<std::size_t>(same);
  });
  if (has_new_shape) exceeds(quota.shapes_waiting_max, shapes, "shapes that wait");
  auto& times = submits_[who];
  std::erase_if(times, [&](Mono time) { return time + Duration(1min) <= now_.mono; });
  times.push_back(now_.mono);
  exceeds(quota.submits_per_minute_max, times.size(), "submits in a minute");
}

/// Those with a job of the same shape, and those with one that needs no more and has waited. Work
/// that has waited for long may have had the host reserved for it; the reservation stands until the
/// next plan, also if the job has started elsewhere. A new host first gets the shapes that it was
/// made for.
std::set<std::string> Decisions::rivals_of(const Job& job, model::InstanceId host) const {
  std::set<std::string> out;
  const auto own = demand::Queue::class_shape(job.shape);
  const auto starved = starved_.find(own);
  const bool may_pass = is_made_for_(host, own) || has_waited(own, kStarving) ||
                        (starved != starved_.end() && starved->second + kStarving > now_.mono);
  for (const auto& [shape, users] : waiting_) {
    const bool same = shape == own;
    if (!same && (may_pass || shape.priority != own.priority ||
                  shape.constraints != own.constraints || !shape.needs.fits_in(own.needs)))
      continue;
    for (const auto& [user, since] : users)
      if (user != job.principal && (same || *since.begin() + kSeenByPlans <= now_.mono))
        out.insert(user);
  }
  return out;
}

bool Decisions::has_waited(const model::WorkShape& shape, Duration time) const {
  const auto found = waiting_.find(shape);
  return found != waiting_.end() && std::ranges::any_of(found->second, [&](const auto& entry) {
           return *entry.second.begin() + time <= now_.mono;
         });
}

/// Users of one priority take turns: nobody starts a job before a rival who has used less. What is
/// held counts for an hour at once. The shares are those after all starts of this decision.
void Decisions::check_turns(const dispatch::Queries& queries) {
  std::map<std::string, double> keys, slack;
  for (const auto& one : queries.shares(now_.mono).principals) {
    const auto held = static_cast<double>(one.price_per_hour.value);
    keys[one.principal] = static_cast<double>(one.use.value) + held;
    slack[one.principal] = held / 60 + 2;  // Keys are brought up to date from time to time.
  }
  // Whoever may run only so much at a time lets others go first.
  const auto is_limited = [&](const std::string& who) {
    const model::Quota quota = queries.policy().quotas.of(who);
    return quota.running_vcpus_max || quota.running_price_per_hour_max;
  };
  for (auto start = starts_.rbegin(); start != starts_.rend(); ++start) {
    const auto host = queries.instance(start->instance, now_);
    if (!host) return;
    keys[start->principal] -=
        static_cast<double>(demand::price_of_part(host->record.price_per_hour, start->needs,
                                                  host->total, host->record.jobs_max)
                                .value);
    for (const auto& rival : start->rivals)
      if (!is_limited(rival) && keys[start->principal] > keys[rival] + slack[start->principal])
        complain_(start->principal + " starts a job before " + rival + ", who has used less");
  }
}

}  // namespace hostler::sim
