#include "core/work/step.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::work {
namespace {

using model::EndReason;
using model::Event;
using model::WorkState;

constexpr std::uint32_t kAttemptsLeftOut = 1000;

bool on_host(const Job& job) {
  return job.state() == WorkState::kStarting || job.state() == WorkState::kRunning;
}

Event event_of(WorkState ended) {
  switch (ended) {
    case WorkState::kSucceeded:
      return Event::kSucceeded;
    case WorkState::kCancelled:
      return Event::kCancelled;
    default:
      return Event::kFailed;
  }
}

Outcome end(Job& job, WorkState state, EndReason reason, const std::string& text, Now now) {
  auto& record = job.made();
  record.state = state;
  record.reason = reason;
  record.reason_text = text;
  if (record.ended.us == 0) record.ended = now.wall;
  job.queued = false;
  return {Next::kEnd, true, event_of(state), model::to_string(reason), text};
}

/// It would wait; but after the backup it may have run elsewhere.
Outcome hold(Job& job, const std::string& why) {
  auto& record = *job.record;
  record.state = WorkState::kHeld;
  record.reason_text = why + "; it may have run after the backup was made";
  job.queued = false;
  return {Next::kNothing, true, Event::kHeld, "", record.reason_text};
}

Outcome queue_again(Job& job, const std::string& why) {
  auto& record = job.made();
  record.state = WorkState::kQueued;
  record.reason = EndReason::kNone;
  record.reason_text = why;
  record.started = record.ended = Wall{};
  if (record.restored) return hold(job, why);
  job.queued = true;
  return {Next::kQueueAgain, true, Event::kQueuedAgain, "", why};
}

/// The present attempt is over, and no host that lists it later has it: see found_again().
Outcome queue_anew(Job& job, const std::string& why) {
  job.made().instance = {};
  return queue_again(job, why);
}

/// The attempt does not count. Where it was found again, that may have been said before.
void take_back_start(model::WorkRecord& record) {
  if (record.starts > 0) --record.starts;
}

Outcome undo_start(Job& job, const std::string& why, Now now) {
  take_back_start(job.made());
  if (job.record->cancel_requested)
    return end(job, WorkState::kCancelled, EndReason::kCancelled, "cancelled before it started",
               now);
  return queue_anew(job, "it never started: " + why);
}

/// Ends the job after its last attempt: the attempt has ended and its output is here.
Outcome conclude(Job& job, Now now) {
  auto& record = job.made();
  const bool success = record.reason == EndReason::kExit && record.exit_code == 0;
  if (success) return end(job, WorkState::kSucceeded, record.reason, record.reason_text, now);
  if (record.cancel_requested) {
    const std::string& how = record.reason_text;
    return end(job, WorkState::kCancelled, EndReason::kCancelled,
               "cancelled" + (how.empty() ? "" : ": " + how), now);
  }
  return end(job, WorkState::kFailed, record.reason, record.reason_text, now);
}

bool may_restart(const Job& job) {
  return job.restartable && !job.record->cancel_requested && job.record->starts < job.attempts_max;
}

std::string describe(const model::AttemptEnd& end) {
  if (!end.text.empty()) return end.text;
  switch (end.reason) {
    case EndReason::kExit:
      return end.exit_code == 0 ? "" : "exit status " + std::to_string(end.exit_code);
    case EndReason::kSignal:
      return "killed by signal " + std::to_string(end.signal);
    case EndReason::kTimeLimit:
      return "its time limit passed";
    default:
      return "";
  }
}

}  // namespace

Outcome placed(Job& job, model::InstanceId instance, Now now) {
  HOSTLER_ASSERT(job.queued && job.state() == WorkState::kQueued, "only a queued job is placed");
  auto& record = job.made();
  record.state = WorkState::kStarting;
  record.reason_text.clear();
  record.instance = instance;
  record.interrupted = false;
  record.placed = now.wall;
  // The numbers that follow may have been given out after the backup was made.
  if (std::exchange(record.restored, false) && record.attempt < UINT32_MAX / 2)
    record.attempt += kAttemptsLeftOut;
  ++record.attempt;
  ++record.starts;  // It counts until it is certain that it never started.
  job.queued = false;
  return {Next::kSend, true, Event::kStarting, "", "on " + instance.text()};
}

Outcome started(Job& job, Wall at, Now now) {
  if (job.state() != WorkState::kStarting) return {};
  auto& record = job.made();
  record.state = WorkState::kRunning;
  record.started = std::clamp(at, record.placed, std::max(record.placed, now.wall));
  Outcome out;
  out.changed = true;
  // A cancel before this event has sent its kill already.
  return out;
}

Outcome never_started(Job& job, const std::string& why, Now now) {
  // The host reported it running before: the attempt did start.
  if (job.state() == WorkState::kRunning) return host_gone(job, why, now);
  if (job.state() != WorkState::kStarting) return {};
  return undo_start(job, why, now);
}

Outcome found_again(Job& job, Now now) {
  HOSTLER_ASSERT(job.record && (job.queued || job.state() == WorkState::kHeld),
                 "only a job that waits again is found");
  job.record->state = WorkState::kRunning;
  job.record->reason_text.clear();
  job.record->started = now.wall;  // Its end tells the true time.
  job.queued = false;
  return {Next::kNothing, true, Event::kFoundAgain, "", "on " + job.record->instance.text()};
}

Outcome superseded(Job& job, const std::string& why) {
  if (!on_host(job)) return {};
  job.record->started = job.record->ended = Wall{};
  return hold(job, why);
}

Outcome taken_over(Job& job, std::uint32_t attempt, model::InstanceId instance, Wall from,
                   Now now) {
  HOSTLER_ASSERT(job.record && (job.queued || job.state() == WorkState::kHeld),
                 "only a job that is held or waits is taken over");
  auto& record = *job.record;
  job.queued = false;
  record.state = WorkState::kRunning;
  record.reason_text.clear();
  record.instance = instance;
  record.placed = std::min(from, now.wall);
  record.started = now.wall;  // Its end tells the true time.
  record.starts += attempt - record.attempt;
  record.attempt = attempt;
  return {Next::kNothing, true, Event::kTakenOver, "", "on " + instance.text()};
}

Outcome refused(Job& job, const std::string& why, Now now, bool counts) {
  if (!on_host(job)) return {};
  job.record->started = Wall{};
  if (job.record->cancel_requested || !counts) return undo_start(job, why, now);
  auto& hosts = job.record->refused_by;
  const std::string host = job.record->instance.text();
  if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  if (hosts.size() < job.start_failures_max) return undo_start(job, why, now);
  take_back_start(*job.record);
  return end(job, WorkState::kFailed, EndReason::kStartFailures,
             (hosts.size() == 1
                  ? "its host could not start it: "
                  : std::to_string(hosts.size()) + " hosts could not start it; the last one: ") +
                 why,
             now);
}

model::AttemptEnd as_seen(const Job& job, model::AttemptEnd end, Now now) {
  if (job.state() == WorkState::kCollecting) {  // It was seen before.
    end.started = job.record->started;
    end.ended = job.record->ended;
    return end;
  }
  if (end.started.us == 0) {  // It never ran: an input was missing.
    end.ended = now.wall;
    return end;
  }
  const Wall from = job.record ? job.record->placed : Wall{};
  const Wall until = std::max(from, now.wall);  // The daemon's clock may have been set back.
  const std::int64_t length =
      std::clamp<std::int64_t>(end.ended.us - end.started.us, 0, until.us - from.us);
  end.ended = std::clamp(end.ended, Wall{from.us + length}, until);
  end.started.us = end.ended.us - length;
  return end;
}

Outcome exited(Job& job, const model::AttemptEnd& ended, Now now) {
  if (!on_host(job)) return {};
  auto& record = job.made();
  record.reason = ended.reason;
  record.reason_text = describe(ended);
  record.exit_code = ended.exit_code;
  record.signal = ended.signal;
  record.limits_enforced = ended.limits_enforced;
  record.cpu_us = ended.cpu_us;
  record.ram_peak = ended.ram_peak;
  record.stdout_bytes = ended.stdout_bytes;
  record.stderr_bytes = ended.stderr_bytes;
  record.started = ended.started;
  record.ended = ended.ended.us != 0 ? ended.ended : now.wall;
  if (record.interrupted && ended.reason != EndReason::kTimeLimit && survives_interruption(job)) {
    take_back_start(record);
    return queue_anew(job, "its attempt ended because its host was to be interrupted");
  }
  if (ended.reason == EndReason::kSupervisionLost && may_restart(job))
    return queue_anew(job, "supervision of the attempt was lost");
  if (ended.output_is_inline && !ended.has_output_files) return conclude(job, now);
  record.state = WorkState::kCollecting;
  return {Next::kCollect, true, Event::kCollecting, "", ""};
}

Outcome collected(Job& job, const std::string& lost, Now now) {
  if (job.state() != WorkState::kCollecting) return {};
  auto& record = job.made();
  if (!lost.empty()) {
    // Any other reason says more, and has its own exit status or none.
    if (record.reason == EndReason::kExit || record.reason == EndReason::kSignal)
      record.reason = EndReason::kOutputLost;
    record.reason_text += (record.reason_text.empty() ? "" : "; ") + lost;
  }
  return conclude(job, now);
}

Outcome host_gone(Job& job, const std::string& why, Now now, bool was_announced) {
  if (job.state() == WorkState::kCollecting)
    return collected(job, "its host went before all output was here: " + why, now);
  if (!on_host(job)) return {};
  if ((was_announced || job.record->interrupted) && survives_interruption(job)) {
    take_back_start(*job.record);
    return queue_again(job, "its host was interrupted: " + why);
  }
  if (may_restart(job)) return queue_again(job, "its host was lost: " + why);
  if (job.record->cancel_requested)
    return end(job, WorkState::kCancelled, EndReason::kCancelled, "its host was lost: " + why, now);
  const char* unknown = job.record->restored ? "; it may have ended after the backup was made" : "";
  return end(job, WorkState::kFailed, EndReason::kHostLost, why + unknown, now);
}

Outcome interrupt(Job& job, const std::string& why) {
  if (!on_host(job) || job.record->interrupted || !survives_interruption(job)) return {};
  job.record->interrupted = true;
  return {Next::kKill, true, Event::kInterrupted, "", why};
}

bool survives_interruption(const Job& job) {
  return on_host(job) && job.restartable && !job.record->cancel_requested;
}

Outcome release(Job& job, const std::string& actor) {
  if (job.state() != WorkState::kHeld) return {};
  auto& record = *job.record;
  record.state = WorkState::kQueued;
  record.reason_text = "released by " + actor;
  job.queued = true;
  return {Next::kQueueAgain, true, Event::kReleased, "", "by " + actor};
}

Outcome cancel(Job& job, const std::string& actor, Now now) {
  switch (job.state()) {
    case WorkState::kQueued:
    case WorkState::kHeld: {
      job.made().cancel_requested = true;
      return end(job, WorkState::kCancelled, EndReason::kCancelled, "by " + actor, now);
    }
    case WorkState::kStarting:
    case WorkState::kRunning: {
      auto& record = job.made();
      if (record.cancel_requested) return {Next::kKill, false, {}, "", ""};
      record.cancel_requested = true;
      record.reason_text = "by " + actor;
      return {Next::kKill, true, Event::kCancelRequested, "", "by " + actor};
    }
    default:
      return {};  // It has ended.
  }
}

}  // namespace hostler::work
