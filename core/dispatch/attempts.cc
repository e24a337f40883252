#include <algorithm>
#include <map>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Attempts on their hosts: placed there, told of, until nothing more is expected.
namespace hostler::dispatch {
namespace {

constexpr std::size_t kForeignShown = 10;  ///< Attempts in the ledger, of those that are not ours.

/// The end of an attempt that no host will tell any more. Nothing if it is not known to have begun.
std::optional<model::AttemptEnd> lost_end(const work::Job* job, Now now) {
  if (job == nullptr || job->state() != model::WorkState::kRunning) return std::nullopt;
  model::AttemptEnd end;
  end.reason = model::EndReason::kHostLost;
  end.output_is_inline = false;  // What of it is here came in pieces.
  end.started = job->record->started;
  end.ended = now.wall;
  return end;
}

}  // namespace

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
  work::Job* placed = job(item.work);
  if (placed == nullptr) return false;
  if (host.reserved_for == cls) host.reserved_for.reset();
  settle(*placed, work::placed(*placed, instance.record.id, now), now);
  const model::AttemptId attempt = placed->attempt();
  const std::uint64_t sequence = ++instance.record.last_sequence;
  host.attempts.push_back({attempt, instance.record.boot_id, sequence, needs, false});
  instance.used += needs;
  ++instance.attempts;
  out_.changes.emplace_back(row_of(host, host.attempts.back()));
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
      const auto cls = scheduler::pick_next(queue_, view(host), type.name,
                                            host.instance.record.zone, host.instance.record.market);
      if (!cls || !place(host, *cls, now)) break;
    }
  }
  settle(host, fleet::work_changed(host.instance, now), "dispatcher", now);
}

void Dispatcher::hear(Host& host, const model::AttemptStarted& said, Now now) {
  work::Job* affected = job_of(said.attempt);
  if (affected != nullptr && live(host, said.attempt) != nullptr)
    settle(*affected, work::started(*affected, said.started), now);
  host.instance.refusals = 0;
}

void Dispatcher::hear(Host& host, const model::AttemptRefused& said, Now now) {
  const Live* its = live(host, said.attempt);
  if (its == nullptr) return;
  const std::uint64_t sequence = its->sequence;
  finish(host, said.attempt, now);
  if (work::Job* affected = job_of(said.attempt))
    settle(*affected, work::never_started(*affected, said.text, now), now);
  settle(host, fleet::start_refused(host.instance, sequence, said.text, now), "host", now);
  settle(host, fleet::work_changed(host.instance, now), "host", now);
  plan_soon();  // Its room is not filled at once: the same job might go there again.
}

void Dispatcher::hear(Host& host, const model::AttemptExited& said, Now now) {
  Live* ended = live(host, said.attempt);
  work::Job* affected = job_of(said.attempt);
  if (ended == nullptr || affected == nullptr) {
    // Told again, but its end is durable here already.
    acknowledge(host, said.attempt);
    if (ended == nullptr) return;
    detach(host, said.attempt);
    return fill(host, now);
  }
  auto row = row_of(host, *ended);
  row.end = said.end;
  if (ended->collecting) {
    // Told again on a new connection. If no piece of its output came to rest here before the old
    // one ended, this brings it whole, and nothing else will.
    if (!said.end.output_is_inline) return;
    row.state = model::AttemptState::kEnded;
    out_.changes.emplace_back(std::move(row));
    return;
  }
  auto outcome = work::exited(*affected, said.end, now);
  const bool done = outcome.next != work::Next::kCollect;
  row.state = done ? model::AttemptState::kDone : model::AttemptState::kEnded;
  out_.changes.emplace_back(std::move(row));
  settle(*affected, std::move(outcome), now);
  if (done) {
    detach(host, said.attempt);
    acknowledge(host, said.attempt);
  } else {
    release(host, *ended);
  }
  fill(host, now);
}

void Dispatcher::hear(Host& host, const model::AttemptCollected& said, Now now) {
  if (live(host, said.attempt) == nullptr) return;
  finish(host, said.attempt, now);
  if (work::Job* affected = job_of(said.attempt))
    settle(*affected, work::collected(*affected, said.lost, now), now);
  acknowledge(host, said.attempt);
  settle(host, fleet::work_changed(host.instance, now), "host", now);
}

/// A fresh connection tells all that its host knows; what we sent and it does not know never
/// started (same boot), or counts as started and lost (another boot).
void Dispatcher::compare_attempts(Host& host, const model::HostReady& report, Now now) {
  const model::InstanceId id = host.instance.record.id;
  std::map<model::AttemptId, model::AttemptPhase> told;
  for (const auto& one : report.attempts) told[one.attempt] = one.phase;
  model::ResumeAttempts resume{id, report.connection, {}};
  const std::vector<Live> ours = host.attempts;
  for (const Live& live_one : ours) {
    work::Job* affected = job_of(live_one.attempt);
    if (affected == nullptr) {
      finish(host, live_one.attempt, now);
      continue;
    }
    const auto found = told.find(live_one.attempt);
    if (found == told.end()) {
      finish(host, live_one.attempt, now);
      if (live_one.collecting)
        settle(*affected, work::collected(*affected, "its output is not on the host any more", now),
               now);
      else if (live_one.boot_id == report.boot_id)
        settle(*affected, work::never_started(*affected, "the host does not know it", now), now);
      else
        settle(*affected, work::host_gone(*affected, "the host was rebooted", now), now);
    } else if (found->second == model::AttemptPhase::kUnknownEnd) {
      finish(host, live_one.attempt, now);
      settle(*affected, work::host_gone(*affected, "the host was rebooted", now), now);
      acknowledge(host, live_one.attempt);
    } else {
      resume.attempts.push_back(live_one.attempt);
      const bool runs = found->second == model::AttemptPhase::kRunning;
      if (runs) settle(*affected, work::started(*affected, now.wall), now);
      // The kill may have been lost with the connection, or with an earlier daemon.
      if (runs && affected->record && affected->record->cancel_requested)
        out_.effects.emplace_back(model::HostCommand(model::KillAttempt{id, live_one.attempt}));
    }
    told.erase(live_one.attempt);
  }
  out_.effects.emplace_back(model::HostCommand(std::move(resume)));
  std::size_t foreign = 0;
  for (const auto& [attempt, phase] : told) {
    // Not ours any more: ended and acknowledged by an earlier daemon, or cancelled meanwhile.
    if (phase == model::AttemptPhase::kRunning) {
      if (foreign++ < kForeignShown)  // A host says what it likes.
        record("host", attempt.text(), model::Event::kUnexpectedAttempt, "",
               "killed on " + id.text(), now);
      out_.effects.emplace_back(model::HostCommand(model::KillAttempt{id, attempt}));
    } else {
      acknowledge(host, attempt);
    }
  }
  if (foreign > kForeignShown)
    record("host", id.text(), model::Event::kUnexpectedAttempts, "",
           std::to_string(foreign - kForeignShown) + " more were killed", now);
  settle(host, fleet::work_changed(host.instance, now), "host", now);
}

void Dispatcher::acknowledge(const Host& host, model::AttemptId attempt) {
  out_.effects.emplace_back(
      model::HostCommand(model::AckAttempt{host.instance.record.id, attempt}));
}

void Dispatcher::finish(Host& host, model::AttemptId attempt, Now now) {
  const Live* found = live(host, attempt);
  if (found == nullptr) return;
  auto row = row_of(host, *found);
  row.state = model::AttemptState::kDone;
  if (!found->collecting) row.end = lost_end(job_of(attempt), now);
  out_.changes.emplace_back(std::move(row));
  detach(host, attempt);
}

void Dispatcher::detach(Host& host, model::AttemptId attempt) {
  Live* found = live(host, attempt);
  if (found == nullptr) return;
  release(host, *found);
  --host.instance.collecting;
  std::iter_swap(host.attempts.begin() + (found - host.attempts.data()), host.attempts.end() - 1);
  host.attempts.pop_back();
}

/// The attempt ended: its resources are free, though its output may still be on the way.
void Dispatcher::release(Host& host, Live& live) {
  if (live.collecting) return;
  live.collecting = true;
  host.instance.used -= live.needs;
  --host.instance.attempts;
  ++host.instance.collecting;
}

Dispatcher::Live* Dispatcher::live(Host& host, model::AttemptId attempt) {
  const auto found = std::ranges::find(host.attempts, attempt, &Live::attempt);
  return found == host.attempts.end() ? nullptr : &*found;
}

model::AttemptChanged Dispatcher::row_of(const Host& host, const Live& live) {
  model::AttemptChanged row;
  row.attempt = live.attempt;
  row.instance = host.instance.record.id;
  row.boot_id = live.boot_id;
  row.sequence = live.sequence;
  return row;
}

/// The job, while this is its attempt.
work::Job* Dispatcher::job_of(model::AttemptId attempt) {
  work::Job* found = job(attempt.work);
  return found != nullptr && found->attempt() == attempt ? found : nullptr;
}

}  // namespace hostler::dispatch
