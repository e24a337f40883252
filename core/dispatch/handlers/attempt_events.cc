#include "core/dispatch/handlers/attempt_events.h"

#include <algorithm>
#include <utility>

#include "core/fleet/uses.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kForeignShown = 10;  ///< Foreign attempts of one report in the ledger.

/// A host that breaks with each start would otherwise be replaced for ever.
bool is_to_blame(const Host& host, const work::Job& job) {
  return host.instance.record.health == model::Health::kBroken &&
         job.state() == model::WorkState::kStarting;
}

/// Its cloud has said that it takes the host away.
bool is_announced(const Host& host) {
  const auto& notices = host.instance.notices;
  return notices.is_cordoned() || notices.was_restart_announced();
}

}  // namespace

bool AttemptEvents::place(Host& host, demand::ClassId cls, Now now) {
  const auto* klass = waiting_.queue().find(cls);
  if (klass == nullptr || klass->shape.gang.count > 0) return false;
  return klass->kind == model::WorkKind::kLease ? lending_.place(host, cls, now)
                                                : place_job(host, cls, now);
}

bool AttemptEvents::place_job(Host& host, demand::ClassId cls, Now now) {
  auto& instance = host.instance;
  if (!waiting_.queue().waits(cls) || !instance.takes_jobs() || !instance.type ||
      host.closed != scheduler::Closed::kNo)
    return false;
  const auto& shape = waiting_.queue().at(cls).shape;
  const model::Resources needs = shape.needs;
  const auto& type = policy_.types[*instance.type];
  const auto total = instance.occupancy.room_of(type);
  if (!(instance.occupancy.used() + needs).fits_in(total)) return false;
  auto cards = instance.occupancy.choose_cards(type, needs.gpus, shape.constraints.gpu);
  if (!cards) return false;
  if (viewer_.attempts_left(instance) == 0) return false;
  const auto price = demand::price_of_part(instance.record.price_per_hour, needs, total,
                                           viewer_.jobs_max(instance));
  if (!waiting_.queue().has_next(cls, {price})) return false;
  work::Job& job = jobs_.pop(cls, price);
  if (host.reserved_for == cls) host.reserved_for.reset();
  job_steps_.apply(job, work::placed(job, host.id(), now), now);
  jobs_.hold(job, price, now.mono);
  if (fleet::count_use(instance.record, policy_.pools[instance.pool]))
    recorder_.change(model::InstanceChanged{instance.record, nullptr, false});
  const model::AttemptId attempt = job.attempt();
  const std::uint64_t sequence = ++instance.record.last_sequence;
  fleet::PlacedAttempt placed{attempt, instance.record.boot_id, sequence, needs};
  placed.cards = *cards;
  recorder_.change(AttemptRows::row_of(host, placed));
  instance.occupancy.add(std::move(placed));
  recorder_.want_body(job.id);
  recorder_.command(model::StartAttempt{host.id(), attempt, instance.record.boot_id,
                                        instance.link.connection(), sequence, nullptr,
                                        *std::move(cards)});
  return true;
}

bool AttemptEvents::place_own(Host& host, demand::ClassId next, Now now) {
  if (host.reserved_for) return false;
  const auto& queue = waiting_.queue();
  const auto& instance = host.instance;
  const auto priority = [&](demand::ClassId cls) { return queue.at(cls).shape.priority; };
  auto& made_for = host.made_for;
  made_for.drop_if([&](const auto& load) { return !queue.waits(load.cls); });
  while (!made_for.load().empty()) {
    const demand::ClassId own =
        std::ranges::max_element(made_for.load(), {}, [&](const auto& load) {
          return priority(load.cls);
        })->cls;
    if (priority(own) < priority(next)) return false;
    const bool may_run = scheduler::meets(
        queue.at(own).kind, queue.at(own).shape.constraints, policy_.pools[instance.pool],
        policy_.types[*instance.type].name, instance.record.zone, instance.record.market);
    if (may_run && place(host, own, now)) {
      if (queue.waits(own))
        made_for.placed(own);
      else
        made_for.drop(own);
      return true;
    }
    made_for.drop(own);  // It does not fit on what the host really has.
  }
  return false;
}

void AttemptEvents::fill(Host& host, Now now) {
  const auto& instance = host.instance;
  const bool takes_work = instance.takes_work() && host.closed == scheduler::Closed::kNo;
  if (waiting_.queue().size() != 0 && takes_work && instance.type) {
    const auto& type = policy_.types[*instance.type];
    for (;;) {
      const auto cls =
          scheduler::pick_next(waiting_.queue(), viewer_.view(host), policy_.pools[instance.pool],
                               type, instance.record.zone, instance.record.market);
      if (!cls) break;
      if (!place_own(host, *cls, now) && !place(host, *cls, now)) break;
    }
  }
  if (takes_work) host.made_for.end();
  steps_.apply(host, fleet::work_changed(host.instance, policy_.pools[host.instance.pool], now),
               "dispatcher", now);
}

void AttemptEvents::on(Host& host, const model::AttemptStarted& event, Now now) {
  work::Job* job = jobs_.find(event.attempt);
  if (job != nullptr && host.instance.occupancy.find(event.attempt) != nullptr)
    job_steps_.apply(*job, work::started(*job, event.started, now), now);
  host.instance.occupancy.set_started(event.attempt, now.mono);
  interruptions_.started(host, now);
}

void AttemptEvents::on(Host& host, const model::AttemptRefused& event, Now now) {
  const auto* placed = host.instance.occupancy.find(event.attempt);
  if (placed != nullptr && placed->collecting) return;
  // The host may keep a record of what it has tried, and tell it again on a new connection.
  if (placed == nullptr && event.tried) end_unplaced(host, event.attempt, now);
  if (placed == nullptr) return;
  if (event.tried) rows_.acknowledge(host, event.attempt);
  const fleet::RefusedStart refused{placed->attempt.work, placed->sequence, event.tried};
  if (event.tried)
    rows_.withdraw(host, event.attempt);
  else
    rows_.finish(host, event.attempt, now);
  if (work::Job* job = jobs_.find(event.attempt))
    job_steps_.apply(*job,
                     event.tried ? work::refused(*job, event.text, now,
                                                 !host.instance.refusals.has_lost_folder())
                                 : work::never_started(*job, event.text, now),
                     now);
  steps_.apply(host, fleet::start_refused(host.instance, refused, event.text, now), "host", now);
  steps_.apply(host, fleet::work_changed(host.instance, policy_.pools[host.instance.pool], now),
               "host", now);
  plan_.want();  // Its room is not filled at once: the same job might go there again.
}

void AttemptEvents::on(Host& host, const model::AttemptExited& event, Now now) {
  auto& occupancy = host.instance.occupancy;
  const auto* placed = occupancy.find(event.attempt);
  work::Job* job = jobs_.find(event.attempt);
  if (placed == nullptr) return end_unplaced(host, event.attempt, now);
  if (job == nullptr) {
    rows_.acknowledge(host, event.attempt);
    occupancy.remove(event.attempt);
    return fill(host, now);
  }
  const model::AttemptEnd end = work::as_seen(*job, event.end, now);
  auto row = AttemptRows::row_of(host, *placed);
  row.end = end;
  if (placed->collecting) {
    // Reported again on a new connection. If no piece of its output came to rest here before the
    // old one ended, this report brings it whole, and nothing else will.
    if (!end.output_is_inline) return;
    row.state = model::AttemptState::kEnded;
    return recorder_.change(std::move(row));
  }
  occupancy.set_output(event.attempt, fleet::output_size(end.stdout_bytes, end.stderr_bytes));
  if (end.reason != model::EndReason::kInputFailed)
    fleet::start_held(host.instance, placed->sequence, now);
  auto outcome = work::exited(*job, end, now);
  const bool done = outcome.next != work::Next::kCollect;
  row.state = done ? model::AttemptState::kDone : model::AttemptState::kEnded;
  recorder_.change(std::move(row));
  job_steps_.apply(*job, std::move(outcome), now);
  if (done) {
    occupancy.remove(event.attempt);
    rows_.acknowledge(host, event.attempt);
  } else {
    occupancy.release(event.attempt);
    occupancy.expect_output(event.attempt, now.mono);
  }
  fill(host, now);
}

void AttemptEvents::end_unplaced(Host& host, const model::AttemptId& attempt, Now now) {
  if (left_alone_.take(host, attempt, model::AttemptPhase::kEnded, now))
    return fill(host, now);          // It takes no more room.
  rows_.acknowledge(host, attempt);  // Reported again; its end is durable here already.
  if (host.instance.occupancy.forget_unplaced(attempt)) fill(host, now);
}

void AttemptEvents::collected(Host& host, model::AttemptId attempt, const std::string& lost,
                              Now now) {
  if (host.instance.occupancy.find(attempt) == nullptr) return;
  rows_.finish(host, attempt, now);
  if (work::Job* job = jobs_.find(attempt))
    job_steps_.apply(*job, work::collected(*job, lost, now), now);
  rows_.acknowledge(host, attempt);
  fill(host, now);  // It may have waited for this output.
}

void AttemptEvents::compare(Host& host, const model::HostReady& report, Now now) {
  Reported reported;
  for (const auto& one : report.attempts) reported[one.attempt] = one.phase;
  model::ResumeAttempts resume{host.id(), report.connection, {}};
  host.instance.occupancy.forget_unplaced();  // end_foreign() adds what still is.
  host.instance.occupancy.report_attempts(report.attempts);
  const auto placed = host.instance.occupancy.attempts();
  for (const auto& ours : placed) {
    work::Job* job = jobs_.find(ours.attempt);
    if (job == nullptr) {
      rows_.finish(host, ours.attempt, now);
      continue;
    }
    const auto found = reported.find(ours.attempt);
    if (found == reported.end()) {
      if (ours.boot_id == report.boot_id && is_to_blame(host, *job))
        blame(host, *job, ours, now);
      else
        missing(host, *job, ours, report.boot_id, now);
      continue;
    }
    if (known(host, *job, ours, found->second, now)) resume.attempts.push_back(ours.attempt);
    reported.erase(found);
  }
  take_found(host, reported, resume, now);
  take_over(host, reported, resume, now);
  host.instance.occupancy.expect_output(now.mono);
  recorder_.command(std::move(resume));
  end_foreign(host, reported, now);
  steps_.apply(host, fleet::work_reported(host.instance, policy_.pools[host.instance.pool], now),
               "host", now);
  steps_.apply(host, fleet::work_changed(host.instance, policy_.pools[host.instance.pool], now),
               "host", now);
}

void AttemptEvents::blame(Host& host, work::Job& job, const fleet::PlacedAttempt& ours, Now now) {
  rows_.withdraw(host, ours.attempt);
  job_steps_.apply(job, work::refused(job, "the host is broken and does not know it", now), now);
}

void AttemptEvents::missing(Host& host, work::Job& job, const fleet::PlacedAttempt& ours,
                            const std::string& boot_id, Now now) {
  rows_.finish(host, ours.attempt, now);
  if (ours.collecting)
    job_steps_.apply(job, work::collected(job, "its output is not on the host any more", now), now);
  else if (ours.boot_id == boot_id)
    job_steps_.apply(job, work::never_started(job, "the host does not know it", now), now);
  else
    job_steps_.apply(job, work::host_gone(job, "the host was rebooted", now, is_announced(host)),
                     now);
}

bool AttemptEvents::known(Host& host, work::Job& job, const fleet::PlacedAttempt& ours,
                          model::AttemptPhase phase, Now now) {
  if (phase == model::AttemptPhase::kUnknownEnd) {
    rows_.finish(host, ours.attempt, now);
    job_steps_.apply(job, work::host_gone(job, "the host was rebooted", now, is_announced(host)),
                     now);
    rows_.acknowledge(host, ours.attempt);
    return false;
  }
  if (phase != model::AttemptPhase::kRunning) return true;
  job_steps_.apply(job, work::started(job, now.wall, now), now);
  host.instance.occupancy.set_started(ours.attempt, now.mono);
  // The kill may have been lost with the connection, or with an earlier daemon.
  if (job.record && (job.record->cancel_requested || job.record->interrupted))
    recorder_.command(model::KillAttempt{host.id(), ours.attempt});
  return true;
}

void AttemptEvents::take_found(Host& host, Reported& reported, model::ResumeAttempts& resume,
                               Now now) {
  if (host.instance.occupancy.is_lent()) return;
  std::erase_if(reported, [&](const auto& entry) {
    const auto& [attempt, phase] = entry;
    work::Job* job = jobs_.find(attempt);
    const bool lost = job != nullptr && !job->is_placed() && job->record &&
                      job->record->instance == host.id() &&
                      phase != model::AttemptPhase::kUnknownEnd;
    if (!lost) return false;
    jobs_.withdraw(*job);
    job_steps_.apply(*job, work::found_again(*job, now), now);
    jobs_.hold(*job,
               demand::price_of_part(host.instance.record.price_per_hour, jobs_.needs(*job),
                                     host.instance.record.total, host.instance.record.jobs_max),
               now.mono);
    fleet::PlacedAttempt placed;
    placed.attempt = attempt;
    placed.boot_id = host.instance.record.boot_id;
    placed.needs = jobs_.needs(*job);
    placed.cards = host.instance.occupancy.reported_cards(attempt);
    recorder_.change(AttemptRows::row_of(host, placed));
    host.instance.occupancy.add(std::move(placed));
    resume.attempts.push_back(attempt);
    return true;
  });
}

void AttemptEvents::take_over(Host& host, Reported& reported, model::ResumeAttempts& resume,
                              Now now) {
  if (host.instance.occupancy.is_lent()) return;  // They wait until it is not.
  const auto is_dead = [](const auto& one) {
    return one.second == model::AttemptPhase::kUnknownEnd;
  };
  const bool is_last = std::ranges::none_of(reported, is_dead) || takeover_.is_last_to_report(host);
  // The newest attempt of a job first: an older one that is dead would end the job.
  for (auto next = reported.end(); next != reported.begin();) {
    const auto [attempt, phase] = *--next;
    if (!is_last && takeover_.awaits_reports(attempt, phase)) continue;
    if (set_aside_.contains(attempt.work)) continue;  // It has a row, a damaged one.
    if (!takeover_.take(host, attempt, now)) continue;
    const auto placed = *host.instance.occupancy.find(attempt);
    if (known(host, *jobs_.find(attempt), placed, phase, now)) resume.attempts.push_back(attempt);
    next = reported.erase(next);
  }
}

void AttemptEvents::judge_left_alone(Host& host, Now now) {
  Reported dead, others;
  for (const auto& one : host.instance.occupancy.take_left_alone())
    (one.second == model::AttemptPhase::kUnknownEnd ? dead : others).insert(one);
  model::ResumeAttempts none;  // A connection is told once which attempts go on.
  take_over(host, dead, none, now);
  others.merge(dead);
  end_foreign(host, others, now);
  fill(host, now);
}

void AttemptEvents::end_foreign(Host& host, const Reported& foreign, Now now) {
  std::size_t killed = 0;
  for (const auto& [attempt, phase] : foreign) {
    if (left_alone_.take(host, attempt, phase, now)) continue;
    if (phase != model::AttemptPhase::kRunning) {
      rows_.acknowledge(host, attempt);
      continue;
    }
    if (killed++ < kForeignShown)  // A host may report any number of them.
      recorder_.record("host", attempt.text(), model::Event::kUnexpectedAttempt, "",
                       "killed on " + host.id().text(), now);
    recorder_.command(model::KillAttempt{host.id(), attempt});
    host.instance.occupancy.await_end(attempt);
  }
  if (killed > kForeignShown)
    recorder_.record("host", host.id().text(), model::Event::kUnexpectedAttempts, "",
                     std::to_string(killed - kForeignShown) + " more were killed", now);
}

}  // namespace hostler::dispatch
