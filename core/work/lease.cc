#include "core/work/lease.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/base/saturating.h"
#include "core/base/units.h"

namespace hostler::work {
namespace {

using model::EndReason;
using model::Event;
using model::WorkState;

std::int64_t micros(Duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

Mono later(Mono time, Duration by) {
  return Mono(Duration(add_saturating(time.time_since_epoch().count(), by.count())));
}

Wall later(Wall time, Duration by) { return {add_saturating(time.us, micros(by))}; }

/// The rest of `whole`, which ends at `end`.
Duration left(Duration whole, Wall end, Wall now) {
  const std::int64_t us = add_saturating(end.us, -now.us);
  return std::chrono::microseconds(std::clamp<std::int64_t>(us, 0, micros(whole)));
}

WorkState state_after(EndReason reason) {
  switch (reason) {
    case EndReason::kReturned:
    case EndReason::kTerm:
      return WorkState::kSucceeded;
    case EndReason::kCancelled:
      return WorkState::kCancelled;
    default:
      return WorkState::kFailed;
  }
}

/// The last term of a lease that was renewed, of which the ledger does not record each renewal.
std::string last_term(const Lease& lease) {
  const auto& terms = lease.terms;
  const Wall granted = lease.record.started;
  if (granted.us == 0 || terms.until == later(granted, terms.term)) return "";
  return "last renewed for " + exact_duration(terms.term) + ", until " + format_wall(terms.until);
}

/// The lease is over: notes in the record how.
void note_end(Lease& lease, EndReason reason, const std::string& text) {
  lease.record.reason = reason;
  const std::string term = last_term(lease);
  lease.record.reason_text = text + (text.empty() || term.empty() ? "" : "; ") + term;
  lease.queued = false;
  lease.due = lease.notice = Mono::max();
}

/// Ends a lease whose end was noted.
LeaseOutcome end(Lease& lease, HostAfter host, Now now) {
  auto& record = lease.record;
  record.state = state_after(record.reason);
  record.ended = std::max(record.started, now.wall);  // The clock may have been set back.
  return {{Next::kEnd, true, Event::kEnded, model::to_string(record.reason), record.reason_text},
          host,
          false};
}

/// A lease whose end was noted goes on until a command on its host has ended.
LeaseOutcome ending(Lease& lease, HostAfter host) {
  auto& record = lease.record;
  record.state = WorkState::kCollecting;
  return {
      {Next::kNothing, true, Event::kEnding, model::to_string(record.reason), record.reason_text},
      host,
      false};
}

/// As end() or ending(), of a lease whose holder may have changed the host.
LeaseOutcome end_used(Lease& lease, bool cleans, Now now) {
  if (!cleans) return end(lease, HostAfter::kEnded, now);
  return ending(lease, lease.has_account() ? HostAfter::kClose : HostAfter::kClean);
}

/// As end() or ending(), in each state in which a lease lives.
LeaseOutcome end_any(Lease& lease, bool cleans, Now now) {
  const WorkState state = lease.state();
  if (state == WorkState::kRunning || lease.has_account()) return end_used(lease, cleans, now);
  return end(lease, state == WorkState::kStarting ? HostAfter::kReady : HostAfter::kKept, now);
}

/// The lease would wait, but it may have been granted another host after the backup was made.
LeaseOutcome hold(Lease& lease, const std::string& why) {
  auto& record = lease.record;
  record.state = WorkState::kHeld;
  record.reason_text = why + "; it may have been granted after the backup was made";
  lease.due = lease.notice = Mono::max();
  return {{Next::kNothing, true, Event::kHeld, "", record.reason_text}, HostAfter::kKept, false};
}

LeaseOutcome wait(Lease& lease, Event event, const std::string& why) {
  lease.record.state = WorkState::kQueued;
  lease.record.reason_text = why;
  lease.queued = true;
  lease.due = lease.wait_until;
  return {{Next::kQueueAgain, true, event, "", why}, HostAfter::kKept, false};
}

LeaseOutcome wait_again(Lease& lease, const std::string& why) {
  lease.record.instance = {};
  lease.opening = {};
  const bool had_account = lease.has_account();
  lease.terms.login = model::Login::kNone;
  auto out = lease.record.restored ? hold(lease, why) : wait(lease, Event::kQueuedAgain, why);
  out.terms_changed = had_account;
  return out;
}

}  // namespace

bool Lease::has_host() const {
  return state() == WorkState::kStarting || state() == WorkState::kRunning ||
         state() == WorkState::kCollecting;
}

LeaseOutcome placed(Lease& lease, model::InstanceId instance, model::Login login, Now now) {
  HOSTLER_ASSERT(lease.queued && lease.state() == WorkState::kQueued,
                 "only a waiting lease is placed");
  auto& record = lease.record;
  record.state = WorkState::kStarting;
  record.reason_text.clear();
  record.instance = instance;
  record.placed = now.wall;
  record.restored = false;
  lease.terms.login = login;
  lease.queued = false;
  lease.due = lease.grant_by();
  return {{Next::kNothing, true, Event::kGranting, "", "on " + instance.text()},
          HostAfter::kKept,
          lease.has_account()};
}

LeaseOutcome granted(Lease& lease, Now now) {
  if (lease.state() != WorkState::kStarting) return {};
  auto& record = lease.record;
  record.state = WorkState::kRunning;
  record.started = now.wall;
  ++record.starts;
  lease.terms.until = later(now.wall, lease.terms.term);
  lease.due = later(now.mono, lease.terms.term);
  return {{Next::kNothing, true, Event::kGranted, "",
           "on " + record.instance.text() + " for " + exact_duration(lease.terms.term)},
          HostAfter::kKept,
          true};
}

LeaseOutcome refused(Lease& lease, const std::string& why, Now now) {
  if (lease.state() != WorkState::kStarting) return {};
  auto& hosts = lease.record.refused_by;
  const std::string host = lease.record.instance.text();
  if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  if (hosts.size() >= lease.start_failures_max) {
    note_end(lease, EndReason::kStartFailures,
             (hosts.size() == 1
                  ? "its host could not be granted: "
                  : std::to_string(hosts.size()) + " hosts could not be granted; the last one: ") +
                 why);
    return end(lease, HostAfter::kEnded, now);
  }
  auto out = wait_again(lease, "its host could not be granted: " + why);
  out.host = HostAfter::kEnded;
  return out;
}

LeaseOutcome let_go(Lease& lease, const std::string& why) {
  if (lease.state() != WorkState::kStarting) return {};
  const HostAfter host = lease.has_account() ? HostAfter::kEnded : HostAfter::kReady;
  auto out = wait_again(lease, why);
  out.host = host;
  return out;
}

LeaseOutcome renewed(Lease& lease, Duration term, Now now) {
  if (lease.state() != WorkState::kRunning) return {};
  lease.terms.term = term;
  lease.terms.until = later(now.wall, term);
  lease.due = later(now.mono, term);
  const bool was_restored = std::exchange(lease.record.restored, false);
  if (now.mono < lease.renewal_tells && !was_restored) return {{}, HostAfter::kKept, true};
  lease.renewal_tells = later(now.mono, kRenewalsTold);
  return {{Next::kNothing, true, Event::kRenewed, "", "for " + exact_duration(term)},
          HostAfter::kKept,
          true};
}

LeaseOutcome returned(Lease& lease, bool used, bool cleans, Now now) {
  if (lease.state() != WorkState::kStarting && lease.state() != WorkState::kRunning) return {};
  note_end(lease, EndReason::kReturned, used ? "" : "unused");
  if (used || lease.has_account()) return end_used(lease, cleans, now);
  lease.terms.used = false;
  auto out = end(lease, HostAfter::kReady, now);
  out.terms_changed = true;
  return out;
}

LeaseOutcome cancel(Lease& lease, const std::string& actor, bool cleans, Now now) {
  const WorkState state = lease.state();
  if (state == WorkState::kCollecting || model::is_terminal(state)) return {};
  lease.record.cancel_requested = true;
  note_end(lease, EndReason::kCancelled, "by " + actor);
  return end_any(lease, cleans, now);
}

LeaseOutcome cleaned(Lease& lease, const std::string& problem, Now now) {
  if (lease.state() != WorkState::kCollecting) return {};
  if (problem.empty())
    return end(lease, lease.has_account() ? HostAfter::kEnded : HostAfter::kReady, now);
  const std::string why =
      (lease.has_account() ? "its account was not closed: " : "its host was not cleaned: ") +
      problem;
  auto& text = lease.record.reason_text;
  text += (text.empty() ? "" : "; ") + why;
  LeaseOutcome out = end(lease, HostAfter::kEnded, now);
  out.problem = why;
  return out;
}

LeaseOutcome due(Lease& lease, bool cleans, Now now, Duration grace) {
  if (lease.state() == WorkState::kQueued || lease.state() == WorkState::kStarting) {
    note_end(lease, EndReason::kWaitMax,
             "it was not granted within " + exact_duration(lease.terms.wait_max));
    return end_any(lease, cleans, now);
  }
  if (lease.state() == WorkState::kCollecting && lease.has_account()) {
    lease.due = Mono::max();
    if (!cleans) return end(lease, HostAfter::kEnded, now);
    return {{}, HostAfter::kClose, false};
  }
  if (lease.state() != WorkState::kRunning) return {};
  note_end(lease, EndReason::kTerm, "");
  if (!lease.has_account() || grace <= Duration::zero()) return end_used(lease, cleans, now);
  lease.due = later(now.mono, grace);
  return ending(lease, HostAfter::kKept);
}

LeaseOutcome host_ends(Lease& lease, const std::string& why, bool was_announced) {
  if (lease.state() == WorkState::kStarting)
    return wait_again(lease, "its host was lost before it was granted: " + why);
  if (lease.state() != WorkState::kRunning) return {};
  note_end(lease, was_announced ? EndReason::kInterrupted : EndReason::kHostLost, why);
  return ending(lease, HostAfter::kKept);
}

LeaseOutcome host_gone(Lease& lease, const std::string& why, bool was_announced, Now now) {
  auto out = host_ends(lease, why, was_announced);
  if (lease.state() != WorkState::kCollecting) return out;
  return end(lease, HostAfter::kKept, now);  // Nothing is left to clean.
}

LeaseOutcome taken_over(Lease& lease, model::InstanceId instance, model::Login login, Now now) {
  if (lease.state() != WorkState::kHeld) return {};
  auto& record = lease.record;
  record.state = WorkState::kStarting;
  record.reason_text.clear();
  record.instance = instance;
  record.placed = now.wall;
  lease.terms.login = login;
  auto out = granted(lease, now);
  out.work.event = Event::kTakenOver;
  return out;
}

LeaseOutcome release(Lease& lease, const std::string& actor) {
  if (lease.state() != WorkState::kHeld) return {};
  auto out = wait(lease, Event::kReleased, "released by " + actor);
  out.work.reason = "by " + actor;
  return out;
}

void set_due(Lease& lease, Wall submitted, Now now) {
  const auto& terms = lease.terms;
  const Duration wait = left(terms.wait_max, later(submitted, terms.wait_max), now.wall);
  lease.wait_until = terms.wait_max > Duration::zero() ? later(now.mono, wait) : Mono::max();
  lease.due = Mono::max();
  if (lease.state() == WorkState::kQueued) lease.due = lease.wait_until;
  if (lease.state() == WorkState::kStarting) lease.due = lease.grant_by();
  if (lease.state() == WorkState::kRunning)
    lease.due = later(now.mono, left(terms.term, terms.until, now.wall));
}

}  // namespace hostler::work
