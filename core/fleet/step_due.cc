#include <utility>

#include "core/fleet/transition.h"

/// The deadlines of an instance's states.
namespace hostler::fleet {
namespace {

using model::Event;
using model::Health;
using model::IdleBehavior;
using model::InstanceState;
using model::Reason;

/// `reason`, with the last error of the host and of the cloud.
std::string and_last(std::string reason, const Instance& instance) {
  const std::string& last = instance.record.last_text;
  if (!last.empty()) reason += ": " + last;
  return and_cloud_error(std::move(reason), instance);
}

bool is_held(const Instance& instance) {
  return instance.record.idle_behavior == IdleBehavior::kHold;
}

/// Its host has not been ready, or cannot be reached.
bool is_awaited(const Instance& instance) {
  const auto state = instance.record.state;
  return state == InstanceState::kRequested || state == InstanceState::kBooting ||
         state == InstanceState::kUnknown || instance.link.unreachable_since();
}

/// Work that is not known here may run on it.
Outcome keep(Instance& instance) {
  Outcome out;
  if (!instance.told.kept()) return out;
  out.event = Event::kKept;
  out.reason =
      and_last("its host did not report its work: it is kept until an admin kills it", instance);
  return out;
}

Outcome requested_due(Instance& instance, Now now) {
  Outcome out;
  if (!instance.record.provider_id.empty())
    return terminate(
        instance, Reason::kBootTimeout,
        and_cloud_error("the cloud did not begin to make it within the boot timeout", instance),
        now);
  if (awaits_create(instance)) {
    // The back-off after a transient error is over: send the same request again.
    out.effects.push_back(Effect::kCreateAgain);
    return out;
  }
  enter(instance, InstanceState::kAbandoned, out, Event::kAbandoned, Reason::kCreateTimeout,
        "the create's outcome stayed unknown; if the instance shows up it is destroyed", now);
  out.effects.push_back(Effect::kList);
  return out;
}

/// Whatever is seen of it from here: its outside scheduler has had an agent there, or its
/// pushes alone show whether it has come. A plan ends it, unless they are too old.
bool is_judged_by_pushes(const Instance& instance, const model::PoolPolicy& pool) {
  return pool.pushed && (has_had_agent(instance) || pool.readiness == model::Readiness::kReported);
}

/// Asks for a list that can judge it. Until then nothing is decided.
Outcome await_list(Instance& instance, Now now) {
  Outcome out;
  set_deadline(instance, now.mono + std::chrono::minutes(1), now);
  out.effects.push_back(Effect::kList);
  return out;
}

Outcome adopted_due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (instance.empty() && is_held(instance)) return out;
  const bool was_listed = instance.listing.known_at() > instance.since;
  if (is_evidence_of_list(instance, pool) && !was_listed) return await_list(instance, now);
  if (instance.empty())
    return terminate(instance, Reason::kNotVerified,
                     and_last("adopted, but not verified in time", instance), now);
  // Work may run on it: it is a busy host that cannot be reached.
  enter(instance, InstanceState::kBusy, out, Event::kUnreachable, Reason::kNotVerified,
        "adopted with work on it, still not verified", now);
  if (instance.record.health != Health::kBroken) instance.record.health = Health::kUnreachable;
  instance.link.set_unreachable(now.mono);
  set_deadline(instance, now.mono + pool.probe_timeout, now);
  return out;
}

Outcome abandoned_due(Instance& instance, Now now) {
  Outcome out;
  // No list since then proves its absence.
  if (instance.listing.absent_at() <= instance.since) return await_list(instance, now);
  enter(instance, InstanceState::kGone, out, Event::kGone, Reason::kNeverSeen,
        "abandoned, and never listed since", now);
  out.effects.push_back(Effect::kGone);
  return out;
}

/// First it stops counting for ceilings, much later it is forgotten: the caller sets that deadline.
Outcome vanished_due(Instance& instance, Now now) {
  Outcome out;
  out.changed = true;
  if (instance.listing.stop_counting()) {
    out.effects.push_back(Effect::kRoomFreed);
    return out;
  }
  enter(instance, InstanceState::kGone, out, Event::kGone, Reason::kVanished, "never listed again",
        now);
  instance.record.identity = {};  // The secrets are of no more use.
  out.effects.push_back(Effect::kGone);
  return out;
}

const char* requested_purpose(const Instance& instance) {
  if (!instance.record.provider_id.empty()) return "boot_timeout";
  return awaits_create(instance) ? "create_again" : "create_timeout";
}

}  // namespace

const char* purpose_of_deadline(const Instance& instance) {
  if (instance.record.restored && is_awaited(instance)) return "report_of_work";
  switch (instance.record.state) {
    case InstanceState::kRequested:
      return requested_purpose(instance);
    case InstanceState::kBooting:
      return "boot_timeout";
    case InstanceState::kUnknown:
      return "adoption_timeout";
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      return instance.link.unreachable_since() ? "probe_timeout" : "rest_from_starts";
    case InstanceState::kTerminating:
      return "destroy";
    case InstanceState::kAbandoned:
      return "forget_create";
    case InstanceState::kVanished:
      return instance.listing.counts_vanished() ? "stop_counting" : "forget";
    case InstanceState::kStopped:
      return "stop";
    case InstanceState::kGone:
      return "none";
  }
  return "none";
}

Outcome due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  set_deadline(instance, kNever, now);
  if (instance.record.restored && is_awaited(instance)) return keep(instance);
  if (takes_report(instance) && is_awaited(instance) && is_judged_by_pushes(instance, pool)) {
    set_deadline(instance, now.mono + pool.probe_timeout, now);
    return out;
  }
  switch (instance.record.state) {
    case InstanceState::kRequested:
      return requested_due(instance, now);
    case InstanceState::kBooting:
      if (is_held(instance)) return out;
      return terminate(instance, Reason::kBootTimeout,
                       and_last("not ready within the boot timeout", instance), now);
    case InstanceState::kUnknown:
      return adopted_due(instance, pool, now);
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      instance.refusals.end_rest();
      if (!instance.link.unreachable_since() || is_held(instance)) return out;
      return terminate(instance, Reason::kUnreachable,
                       and_last("unreachable for longer than the probe timeout", instance), now);
    case InstanceState::kTerminating:
      out.effects = {Effect::kDestroy, Effect::kList};
      return out;
    case InstanceState::kAbandoned:
      return abandoned_due(instance, now);
    case InstanceState::kVanished:
      return vanished_due(instance, now);
    case InstanceState::kStopped:
      if (!instance.power.was_seen_off()) out.effects = {Effect::kStop, Effect::kList};
      return out;
    case InstanceState::kGone:
      return out;
  }
  return out;
}

}  // namespace hostler::fleet
