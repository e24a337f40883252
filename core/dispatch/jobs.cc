#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Jobs: submitted, placed, ended.
namespace hostler::dispatch {
namespace {

/// "there is no instance type 'x'; ...", or empty.
std::string unknown_type(const model::Constraints& constraints, const model::SitePolicy& policy) {
  for (const auto& name : constraints.types) {
    if (std::ranges::find(policy.types, name, &model::InstanceType::name) != policy.types.end())
      continue;
    std::string all;
    for (const auto& type : policy.types) all += (all.empty() ? "" : ", ") + type.name;
    return "there is no instance type '" + name + "'; this site has " + all;
  }
  return {};
}

/// The end of an attempt that no host will tell any more. Nothing if it is not known to have begun.
std::optional<model::AttemptEnd> lost_end(const work::Job* job, model::AttemptId attempt, Now now) {
  if (job == nullptr || job->attempt() != attempt || job->state() != model::JobState::kRunning)
    return std::nullopt;
  model::AttemptEnd end;
  end.reason = model::JobReason::kHostLost;
  end.output_is_inline = false;  // What of it is here came in pieces.
  end.started = job->record->started;
  end.ended = now.wall;
  return end;
}

}  // namespace

work::Job* Dispatcher::job(model::JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::uint32_t Dispatcher::principal(const std::string& name) {
  const auto found = std::ranges::find(principals_, name);
  if (found != principals_.end()) return static_cast<std::uint32_t>(found - principals_.begin());
  principals_.push_back(name);
  return static_cast<std::uint32_t>(principals_.size() - 1);
}

Dispatcher::Live* Dispatcher::live(Host& host, model::AttemptId attempt) {
  const auto found = std::ranges::find(host.attempts, attempt, &Live::attempt);
  return found == host.attempts.end() ? nullptr : &*found;
}

/// The attempt ended: its resources are free, though its output may still be on the way.
void Dispatcher::release(Host& host, Live& live) {
  if (live.collecting) return;
  live.collecting = true;
  host.instance.used -= live.needs;
  --host.instance.attempts;
  ++host.instance.collecting;
}

void Dispatcher::detach(Host& host, model::AttemptId attempt) {
  Live* found = live(host, attempt);
  if (found == nullptr) return;
  release(host, *found);
  --host.instance.collecting;
  std::iter_swap(host.attempts.begin() + (found - host.attempts.data()), host.attempts.end() - 1);
  host.attempts.pop_back();
}

void Dispatcher::finish(Host& host, model::AttemptId attempt, Now now) {
  const Live* found = live(host, attempt);
  if (found == nullptr) return;
  model::AttemptChanged row;
  row.attempt = attempt;
  row.instance = host.instance.record.id;
  row.boot_id = found->boot_id;
  row.sequence = found->sequence;
  row.state = model::AttemptState::kDone;
  if (!found->collecting) row.end = lost_end(job(attempt.job), attempt, now);
  out_.changes.emplace_back(std::move(row));
  detach(host, attempt);
}

void Dispatcher::on(Submit& event, Now now) {
  std::vector<model::JobId> ids;
  ids.reserve(event.jobs.size());
  // First all that can refuse, so that a submit is all or nothing.
  std::map<model::JobShape, bool> fits;
  std::map<std::string, std::size_t> keys;
  for (std::size_t i = 0; i < event.jobs.size(); ++i) {
    const NewJob& one = event.jobs[i];
    const std::string where = event.jobs.size() > 1 ? "jobs[" + std::to_string(i) + "]: " : "";
    if (!fits.contains(one.shape)) {
      if (const std::string stranger = unknown_type(one.shape.constraints, policy_);
          !stranger.empty())
        return reply(event.ticket, fail(Errc::kInvalidArgument, where + stranger));
      std::string nearest;
      if (!scheduler::cheapest_fit(one.shape, offerings_, policy_, &nearest))
        return reply(event.ticket,
                     fail(Errc::kInvalidArgument,
                          where + "no instance type of this site can ever run it" +
                              (nearest.empty() ? std::string() : "; nearest: " + nearest)));
      fits[one.shape] = true;
    }
    if (one.client_key.empty()) continue;
    if (const auto [same, fresh] = keys.try_emplace(one.client_key, i);
        !fresh && event.jobs[same->second].client_digest != one.client_digest)
      return reply(event.ticket, fail(Errc::kConflict, where + "client_key '" + one.client_key +
                                                           "' is used twice in this submit"));
    const auto* known = client_keys_.find(event.principal, one.client_key);
    if (known != nullptr && known->digest != one.client_digest)
      return reply(event.ticket, fail(Errc::kConflict, where + "client_key '" + one.client_key +
                                                           "' already names " + known->job.text() +
                                                           ", which has another body"));
  }
  const std::uint32_t who = principal(event.principal);
  for (NewJob& one : event.jobs) {
    if (!one.client_key.empty()) {
      if (const auto* known = client_keys_.find(event.principal, one.client_key)) {
        ids.push_back(known->job);
        continue;
      }
    }
    const model::JobId id{++last_job_};
    const std::uint64_t arrival = ++last_arrival_;
    work::Job& made = jobs_[id];
    made.id = id;
    made.arrival = arrival;
    made.cls = queue_.intern(one.shape);
    made.principal = who;
    made.attempts_max = one.shape.attempts_max;
    made.restartable = one.shape.restartable;
    queue_.push(made.cls, {arrival, id, now.mono});
    ++job_counts_[0];
    if (!one.client_key.empty())
      client_keys_.add(event.principal, one.client_key, {one.client_digest, id});
    model::JobInserted row;
    row.record.id = id;
    row.arrival = arrival;
    row.shape = std::move(one.shape);
    row.principal = event.principal;
    row.name = std::move(one.name);
    row.client_key = std::move(one.client_key);
    row.client_digest = std::move(one.client_digest);
    row.submitted = now.wall;
    row.body = std::move(one.body);
    out_.changes.emplace_back(std::move(row));
    record("user", id.text(), "submitted", "", "by " + event.principal, now);
    ids.push_back(id);
  }
  plan_soon();
  reply(event.ticket, std::move(ids));
}

void Dispatcher::on(CancelJob& event, Now now) {
  work::Job* found = job(event.job);
  if (found == nullptr)
    return reply(event.ticket,
                 fail(Errc::kNotFound, event.job.text() + " is not waiting or running"));
  if (!event.admin && principals_[found->principal] != event.principal)
    return reply(event.ticket, fail(Errc::kForbidden, event.job.text() + " is not yours"));
  settle(*found, work::cancel(*found, event.principal, now), now);
  reply(event.ticket, std::vector<model::JobId>{event.job});
}

void Dispatcher::on(JobsForgotten& event, Now now) {
  (void)now;
  client_keys_.forget(event.jobs);
}

/// Journals what a step changed and does what is next. May end the job: callers do not touch it
/// afterwards.
void Dispatcher::settle(work::Job& job, work::Outcome outcome, Now now) {
  const model::JobId id = job.id;
  if (job.counted != job.state()) {
    --job_counts_[static_cast<std::size_t>(job.counted)];
    job.counted = job.state();
    if (!model::is_terminal(job.counted)) ++job_counts_[static_cast<std::size_t>(job.counted)];
  }
  if (outcome.changed) {
    if (!outcome.event.empty())
      record("dispatcher", id.text(), outcome.event, outcome.reason_code, outcome.reason, now);
    out_.changes.emplace_back(model::JobChanged{*job.record});
  }
  switch (outcome.next) {
    case work::Next::kQueueAgain:
      queue_.push(job.cls, {job.arrival, id, now.mono});
      plan_soon();
      break;
    case work::Next::kKill:
      out_.effects.emplace_back(
          model::HostCommand(model::KillAttempt{job.record->instance, job.attempt()}));
      break;
    case work::Next::kEnd:
      // A cancelled one may be waiting, and a host may be coming for it.
      if (queue_.erase(job.cls, job.arrival)) plan_soon();
      jobs_.erase(id);
      break;
    case work::Next::kNothing:
    case work::Next::kSend:
    case work::Next::kCollect:
      break;
  }
}

/// Puts the first item of the class on the host. False if it does not fit any more.
bool Dispatcher::place(Host& host, scheduler::ClassId cls, Now now) {
  auto& instance = host.instance;
  const auto& klass = queue_.at(cls);
  if (klass.count == 0 || !instance.takes_work() || !instance.type) return false;
  const model::Resources needs = klass.shape.needs;
  const auto total = policy_.types[*instance.type].resources;
  if (!(instance.used + needs).fits_in(total)) return false;
  const std::int32_t most = policy_.pools[instance.pool].attempts_parallel_max;
  if (most > 0 && instance.attempts >= static_cast<std::uint32_t>(most)) return false;
  const auto item = queue_.pop(cls);
  work::Job* placed = job(item.job);
  if (placed == nullptr) return false;
  if (host.reserved_for == cls) host.reserved_for.reset();
  settle(*placed, work::placed(*placed, instance.record.id, now), now);
  const model::AttemptId attempt = placed->attempt();
  const std::uint64_t sequence = ++instance.record.last_sequence;
  host.attempts.push_back({attempt, instance.record.boot_id, sequence, needs, false});
  instance.used += needs;
  ++instance.attempts;
  model::AttemptChanged intent;
  intent.attempt = attempt;
  intent.instance = instance.record.id;
  intent.boot_id = instance.record.boot_id;
  intent.sequence = sequence;
  out_.changes.emplace_back(std::move(intent));
  out_.bodies_wanted.push_back(placed->id);
  out_.effects.emplace_back(
      model::HostCommand(model::StartAttempt{instance.record.id, attempt, instance.record.boot_id,
                                             instance.connection, sequence, nullptr}));
  return true;
}

/// A host with room is filled at once, by the order of the queue.
void Dispatcher::fill(Host& host, Now now) {
  if (queue_.size() != 0 && host.instance.takes_work() && host.instance.type) {
    const auto& type = policy_.types[*host.instance.type];
    for (;;) {
      const auto cls = scheduler::pick_next(queue_, view(host, now), type.name,
                                            host.instance.record.zone, host.instance.record.market);
      if (!cls || !place(host, *cls, now)) break;
    }
  }
  settle(host, fleet::work_changed(host.instance, now), "dispatcher", now);
}

void Dispatcher::attempt_exited(Host& host, const model::AttemptExited& event, Now now) {
  const model::InstanceId id = host.instance.record.id;
  Live* ended = live(host, event.attempt);
  work::Job* affected = job(event.attempt.job);
  const bool current = affected != nullptr && affected->attempt() == event.attempt;
  if (ended == nullptr || !current) {
    // Told again, but its end is durable here already.
    out_.effects.emplace_back(model::HostCommand(model::AckAttempt{id, event.attempt}));
    if (ended != nullptr) detach(host, event.attempt);
    return;
  }
  model::AttemptChanged row;
  row.attempt = event.attempt;
  row.instance = id;
  row.boot_id = ended->boot_id;
  row.sequence = ended->sequence;
  row.end = event.end;
  if (ended->collecting) {
    // Told again on a new connection. If no piece of its output came to rest here before the old
    // one ended, this brings it whole, and nothing else will.
    if (!event.end.output_is_inline) return;
    row.state = model::AttemptState::kEnded;
    out_.changes.emplace_back(std::move(row));
    return;
  }
  auto outcome = work::exited(*affected, event.end, now);
  const bool done = outcome.next != work::Next::kCollect;
  row.state = done ? model::AttemptState::kDone : model::AttemptState::kEnded;
  out_.changes.emplace_back(std::move(row));
  settle(*affected, std::move(outcome), now);
  if (done) {
    detach(host, event.attempt);
    out_.effects.emplace_back(model::HostCommand(model::AckAttempt{id, event.attempt}));
  } else {
    release(host, *ended);
  }
  fill(host, now);
}

}  // namespace hostler::dispatch
