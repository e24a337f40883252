#include <algorithm>

#include "core/fleet/transition.h"

namespace hostler::fleet {

using model::Event;
using model::Health;
using model::IdleBehavior;
using model::InstanceState;
using model::Reason;

void enter(Instance& instance, InstanceState state, Outcome& out, Event event, Reason code,
           const std::string& reason, Now now) {
  if (instance.record.state == InstanceState::kStopped)
    instance.record.off_us += std::max(Duration::zero(), now.wall - instance.record.state_since) /
                              std::chrono::microseconds(1);
  instance.record.state = state;
  instance.record.state_since = now.wall;
  instance.record.reason_code = code;
  instance.record.reason = reason;
  instance.since = now.mono;
  set_deadline(instance, kNever, now);
  out.changed = true;
  out.event = event;
  out.reason_code = model::to_string(code);
  out.reason = reason;
}

void end_doubt(Instance& instance) {
  instance.record.absent_sightings = 0;
  instance.listing.end_doubt();
}

void never_was(Instance& instance, Outcome& out, Event event, Reason code,
               const std::string& reason, Now now) {
  instance.record.gone = now.wall;
  enter(instance, InstanceState::kGone, out, event, code, reason, now);
  instance.record.identity = {};
  out.effects.push_back(Effect::kGone);
}

void set_deadline(Instance& instance, Mono deadline, Now now) {
  instance.deadline = deadline;
  instance.record.deadline = deadline == kNever ? Wall{} : now.wall + (deadline - now.mono);
}

Duration backoff(std::uint32_t tries, Duration first, Duration longest) {
  const std::uint32_t doublings = std::min<std::uint32_t>(tries == 0 ? 0 : tries - 1, 20);
  return std::min(longest, first * (std::int64_t{1} << doublings));
}

Outcome terminate(Instance& instance, Reason code, const std::string& reason, Now now) {
  Outcome out;
  if (instance.record.state == InstanceState::kTerminating ||
      instance.record.state == InstanceState::kGone)
    return out;
  if (instance.record.state == InstanceState::kRequested && instance.creating.is_refused() &&
      instance.record.provider_id.empty()) {
    never_was(instance, out, Event::kGone, code, reason, now);
    return out;
  }
  enter(instance, InstanceState::kTerminating, out, Event::kTerminating, code, reason, now);
  instance.link.lost();
  instance.ending.drain.end();
  instance.link.outside.end();
  end_doubt(instance);
  instance.ending.begin();
  instance.record.gone = {};
  out.effects = {Effect::kDisconnect, Effect::kDestroy, Effect::kList};
  return out;
}

Outcome lease_ended(Instance& instance, model::WorkId lease, Now now, const std::string& problem) {
  auto& record = instance.record;
  Outcome out;
  if (record.state == InstanceState::kTerminating || record.state == InstanceState::kGone)
    return out;
  const std::string text =
      problem.empty() ? "it was lent to " + lease.text() + ", whose holder may have changed it"
                      : lease.text() + " has ended, and " + problem;
  const bool is_kept = record.idle_behavior == IdleBehavior::kHold || record.restored ||
                       record.state == InstanceState::kVanished ||
                       !instance.occupancy.left_alone().empty();
  if (!is_kept) return terminate(instance, Reason::kLeaseEnded, text, now);
  if (record.health == Health::kBroken) return out;
  record.health = Health::kBroken;
  record.last_text = text;
  out.changed = true;
  out.event = Event::kBroken;
  out.reason_code = "lease";
  out.reason = text;
  return out;
}

Outcome work_changed(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  const auto state = instance.record.state;
  if (state == InstanceState::kIdle && instance.occupancy.in_use()) {
    instance.record.state = InstanceState::kBusy;
    instance.record.state_since = now.wall;
    instance.since = now.mono;
    out.changed = true;
    if (instance.record.first_job.us == 0) instance.record.first_job = now.wall;
  } else if (state == InstanceState::kBusy && instance.empty()) {
    if (ends_when_empty(instance))
      return terminate(instance, Reason::kBroken, instance.record.last_text, now);
    if (instance.record.idle_behavior == IdleBehavior::kDrain)
      return terminate(instance, Reason::kDrained, "empty after drain", now);
    instance.record.state = InstanceState::kIdle;
    instance.record.state_since = now.wall;
    instance.since = now.mono;
    out.changed = true;
  }
  return ends_as_used(instance, pool) ? end_as_used(instance, pool, now) : out;
}

Outcome set_idle_behavior(Instance& instance, IdleBehavior behavior, const std::string& actor,
                          Now now) {
  Outcome out;
  if (instance.record.idle_behavior == behavior) return out;
  const bool was_held = instance.record.idle_behavior == IdleBehavior::kHold;
  instance.record.idle_behavior = behavior;
  // A deadline that passed during the hold is due now.
  const bool has_waited = instance.record.state == InstanceState::kBooting ||
                          instance.record.state == InstanceState::kUnknown ||
                          instance.link.unreachable_since();
  if (was_held && has_waited && instance.deadline == kNever) set_deadline(instance, now.mono, now);
  // A host that an outside scheduler uses leaves by a plan, once that scheduler knows.
  const bool leaves = behavior == IdleBehavior::kDrain && instance.empty() &&
                      !has_had_agent(instance) && !instance.link.outside.may_come() &&
                      (instance.record.state == InstanceState::kIdle ||
                       instance.record.state == InstanceState::kStopped);
  if (leaves)
    return terminate(instance, Reason::kDrained, "empty when " + actor + " drained it", now);
  if (instance.record.state == InstanceState::kIdle && ends_when_empty(instance))
    return terminate(instance, Reason::kBroken, instance.record.last_text, now);
  out.changed = true;
  out.event = Event::kIdleBehavior;
  out.reason_code = model::to_string(behavior);
  out.reason = "set by " + actor;
  out.effects.push_back(Effect::kRetag);
  return out;
}

Outcome hold(Instance& instance, const std::string& why, Now now) {
  return set_idle_behavior(instance, IdleBehavior::kHold, "hostlerd: " + why, now);
}

namespace {

/// Connects to a host that may run. One that was proved before counts as connected until the first
/// try to connect has ended.
void connect_again(Instance& instance, const model::PoolPolicy& pool, Outcome& out) {
  if (!needs_link(instance, pool)) return;
  out.effects.push_back(Effect::kConnect);
  const auto& record = instance.record;
  if (record.identity.verified_by && !record.address.empty()) instance.link.await();
}

}  // namespace

Outcome adopt(Instance& instance, const model::PoolPolicy& pool, Duration abandoned_for,
              bool has_work, Now now) {
  Outcome out;
  const auto remaining = [&](Duration least, Duration whole) {
    // The deadline in the journal is wall time. It is clamped: a clock that jumped must not end the
    // instance early, nor keep it for long.
    if (instance.record.deadline.us == 0) return whole;
    return std::clamp(instance.record.deadline - now.wall, std::min(least, whole), whole);
  };
  instance.since = now.mono;
  instance.listing.ignore_until(now.mono);
  // A clock that jumped must not make it younger than new.
  const Wall created = instance.record.created;
  const Duration age = created.us == 0 ? Duration::zero() : now.wall - created;
  instance.creating.decided(now.mono - std::max(Duration::zero(), age));
  instance.link = {};
  end_doubt(instance);  // The time of the last absence is not in the journal.
  if (const auto& notice = instance.record.interruption)
    instance.notices.restore(*notice, now.mono);
  restore_drain(instance, pool, now);
  switch (instance.record.state) {
    case InstanceState::kRequested:
      instance.creating.outcome_lost();
      set_deadline(instance, now.mono + pool.boot_timeout, now);
      out.effects.push_back(Effect::kList);
      break;
    case InstanceState::kBooting:
      // It may have booted while the daemon was down; or its create was cut off by the daemon's
      // end.
      if (!instance.create_is_over()) instance.creating.outcome_lost();
      set_deadline(instance, now.mono + remaining(pool.probe_timeout, pool.boot_timeout), now);
      connect_again(instance, pool, out);
      out.effects.push_back(Effect::kList);
      break;
    case InstanceState::kUnknown:
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      enter(instance, InstanceState::kUnknown, out, Event::kAdopted, Reason::kRestart,
            has_work ? "work is known to be on it" : "to be verified again", now);
      if (instance.record.health == Health::kUnreachable) instance.record.health = Health::kHealthy;
      set_deadline(instance, now.mono + pool.probe_timeout, now);
      connect_again(instance, pool, out);
      out.effects.push_back(Effect::kList);
      break;
    case InstanceState::kTerminating:
      out.effects = {Effect::kDestroy, Effect::kList};
      break;
    case InstanceState::kAbandoned:
      set_deadline(instance, now.mono + remaining(Duration::zero(), abandoned_for), now);
      out.effects.push_back(Effect::kList);
      break;
    case InstanceState::kStopped:
      out.effects.push_back(Effect::kList);
      break;
    case InstanceState::kVanished: {
      const auto& record = instance.record;
      const bool counts =
          record.deadline.us != 0 && record.deadline - record.state_since <= kVanishedCounts;
      instance.listing.vanished(counts);
      const Duration whole = counts ? kVanishedCounts : abandoned_for;
      set_deadline(instance, now.mono + remaining(Duration::zero(), whole), now);
      out.effects.push_back(Effect::kList);
      break;
    }
    case InstanceState::kGone:
      break;
  }
  restore_agent(instance, pool, now);
  return out;
}

}  // namespace hostler::fleet
