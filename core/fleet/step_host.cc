#include <algorithm>
#include <utility>

#include "core/fleet/transition.h"

namespace hostler::fleet {
namespace {

/// Hosts report an attempt as started before they prepare it. One that was not refused for so long
/// runs.
constexpr Duration kPreparation = std::chrono::seconds(5);

using model::Event;
using model::Health;
using model::InstanceState;
using model::Reason;

bool has_link(const Instance& instance) {
  const auto state = instance.record.state;
  return state == InstanceState::kBooting || state == InstanceState::kUnknown ||
         state == InstanceState::kIdle || state == InstanceState::kBusy;
}

void unreachable(Instance& instance, const std::string& text, const model::PoolPolicy& pool,
                 Duration silent, Outcome& out, Now now) {
  instance.link.lost();
  instance.record.last_text = text;
  // Until now the connection contradicted the lists: they decide anew.
  if (instance.listing.absence()) instance.record.absent_sightings = 0;
  instance.listing.connection_lost();
  const auto state = instance.record.state;
  if (state != InstanceState::kIdle && state != InstanceState::kBusy) return;
  if (instance.link.unreachable_since()) return;
  if (instance.record.health != Health::kBroken) instance.record.health = Health::kUnreachable;
  const Mono last_heard = now.mono - std::clamp(silent, Duration::zero(), pool.probe_timeout);
  instance.link.set_unreachable(last_heard);
  set_deadline(instance, last_heard + pool.probe_timeout, now);
  out.changed = true;
  out.event = Event::kUnreachable;
  out.reason = text;
  out.effects.push_back(Effect::kList);
}

/// Keeps the key that was proved.
void learn_key(Instance& instance, const model::HostVerified& event, Outcome& out, Now now) {
  auto& identity = instance.record.identity;
  const bool first = !identity.verified_by.has_value();
  const bool next =
      !identity.next_public_key.empty() && event.public_key == identity.next_public_key;
  if (!first && identity.public_key == event.public_key && !next) return;
  if (next) {
    // A new connection shows the next key: forget the old one.
    identity.challenge_secret = std::exchange(identity.next_secret, {});
    identity.next_public_key.clear();
    identity.rotation = model::Rotation::kDone;
  }
  identity.public_key = event.public_key;
  identity.verified_by = event.method;
  identity.delivered_private_key.clear();
  if (first) instance.record.verified = now.wall;
  out.changed = true;
  out.event = first ? Event::kVerified : next ? Event::kKeyRotated : Event::kKeyChanged;
  out.reason_code = model::to_string(event.method);
  out.reason = first  ? "host key proved"
               : next ? "a new connection showed the next key"
                      : "another host key was proved";
}

/// True: it was booted since it was last ready.
bool learn_boot(Instance& instance, const std::string& boot_id, std::uint64_t last_sequence,
                Outcome& out) {
  auto& record = instance.record;
  if (record.boot_id == boot_id) return false;
  record.boot_id = boot_id;
  record.last_sequence = last_sequence;
  instance.refusals.new_boot();
  out.changed = true;
  return true;
}

/// It gets no starts for a while, unless it is not reachable anyway.
void rest(Instance& instance, std::uint32_t times, Now now) {
  if (instance.link.unreachable_since()) return;
  instance.refusals.rest();
  set_deadline(instance,
               now.mono + backoff(times, std::chrono::seconds(1), std::chrono::minutes(1)), now);
}

}  // namespace

Outcome not_yet(Instance& instance, const model::HostNotYet& event, Now now) {
  (void)now;
  Outcome out;
  instance.link.try_failed();
  // Not journalled: the event repeats until the deadline, and the reason then has the last text.
  if (has_link(instance)) instance.record.last_text = event.step + ": " + event.text;
  return out;
}

Outcome init_failed(Instance& instance, const model::HostInitFailed& event, Now now) {
  Outcome out;
  const auto state = instance.record.state;
  const bool is_new =
      state == InstanceState::kBooting ||
      (state == InstanceState::kUnknown && instance.record.ready.us == 0 && instance.empty());
  if (!is_new) return out;
  const std::string text =
      "the init command ended with " + event.ending +
      (event.output_end.empty() ? ", it printed nothing" : ": " + event.output_end);
  const bool is_held = instance.record.idle_behavior == model::IdleBehavior::kHold ||
                       instance.record.restored || has_had_agent(instance);
  if (!event.host_goes_on && !is_held) return terminate(instance, Reason::kInitFailed, text, now);
  instance.record.last_text = "init: " + text;
  if (!instance.told.init_failed()) return out;
  out.event = Event::kInitFailed;
  out.reason = text;
  return out;
}

Outcome verified(Instance& instance, const model::HostVerified& event,
                 const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (!has_link(instance)) return out;
  instance.link.proved();
  instance.power.changed(now.mono);
  if (instance.occupancy.is_lent() && instance.link.unreachable_since()) {
    instance.link.set_unreachable(now.mono);
    set_deadline(instance, now.mono + pool.probe_timeout, now);
  }
  learn_key(instance, event, out, now);
  return out;
}

Outcome booted(Instance& instance, const model::HostBooted& event, const model::PoolPolicy& pool,
               Now now) {
  Outcome out;
  if (!has_link(instance) || !instance.link.is_connected()) return out;
  if (evidence_of(instance, pool) != model::Readiness::kSsh) return out;
  const bool is_new_boot = !event.boot_id.empty() && learn_boot(instance, event.boot_id, 0, out);
  become_ready_without_agent(instance, pool, out, now);
  if (is_new_boot) instance.notices.restart_happened(now);
  return out;
}

Outcome ready(Instance& instance, const model::HostReady& event, Now now) {
  Outcome out;
  if (!has_link(instance)) return out;
  auto& record = instance.record;
  instance.link.agent_answers(event.connection);
  instance.occupancy.report_room(event.scratch, event.ram);
  if (instance.refusals.end_rest()) set_deadline(instance, kNever, now);
  const bool is_new_boot = learn_boot(instance, event.boot_id, event.last_sequence, out);
  record.last_sequence = std::max(record.last_sequence, event.last_sequence);
  become_ready(instance, out, now);
  if (is_new_boot) instance.notices.restart_happened(now);
  return out;
}

Outcome work_reported(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (!work_is_known(instance)) return out;
  if (pool.leases && instance.empty() && instance.record.idle_behavior == model::IdleBehavior::kRun)
    return hold(instance, "it may have been lent since the backup was made", now);
  if (instance.record.state == InstanceState::kIdle && ends_when_empty(instance))
    return terminate(instance, Reason::kBroken, instance.record.last_text, now);
  out.changed = true;
  return out;
}

Outcome lost(Instance& instance, const model::HostLost& event, const model::PoolPolicy& pool,
             Now now) {
  Outcome out;
  if (!has_link(instance)) return out;
  if (instance.link.take_endpoint_change()) out.effects.push_back(Effect::kConnect);
  if (instance.link.is_ready())
    unreachable(instance, event.text, pool, event.silent, out, now);
  else
    instance.link.lost();  // HostNotYet has said which step failed.
  return out;
}

Outcome key_alarm(Instance& instance, const model::HostKeyAlarm& event,
                  const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (!has_link(instance)) return out;
  unreachable(instance, event.text, pool, Duration::zero(), out, now);
  instance.link.alarm(now.wall, event.seen_key);
  out.event = Event::kHostKeyAlarm;
  out.reason_code = event.seen_key;
  out.reason = event.text;
  out.effects = {Effect::kList};
  return out;
}

Outcome broken(Instance& instance, const model::HostBroken& event, Now now) {
  Outcome out;
  if (!has_link(instance)) return out;
  if (event.check == model::kFolderCheck) instance.refusals.lost_folder();
  if (instance.record.health == Health::kBroken) return out;
  instance.record.health = Health::kBroken;
  instance.record.last_text = "check '" + event.check + "' failed: " + event.text;
  if (instance.record.state == InstanceState::kIdle && ends_when_empty(instance))
    return terminate(instance, Reason::kBroken, instance.record.last_text, now);
  out.changed = true;
  out.event = Event::kBroken;
  out.reason_code = event.check;
  out.reason = event.text;
  return out;
}

Outcome unfit(Instance& instance, Now now) {
  const auto state = instance.record.state;
  const bool is_new = instance.record.ready.us == 0 &&
                      (state == InstanceState::kBooting || state == InstanceState::kUnknown);
  if (!is_new || !ends_when_empty(instance)) return {};
  return terminate(instance, Reason::kBroken, instance.record.last_text, now);
}

void start_held(Instance& instance, std::uint64_t sequence, Now now) {
  auto& refusals = instance.refusals;
  if (refusals.has_room_again() && !instance.link.unreachable_since() && refusals.end_rest())
    set_deadline(instance, kNever, now);
  refusals.held(sequence);
}

Outcome start_refused(Instance& instance, const RefusedStart& start, const std::string& text,
                      Now now) {
  Outcome out;
  auto& refusals = instance.refusals;
  const bool anew = refusals.counts_anew(start, instance.record.last_sequence);
  if (!start.tried && !instance.empty()) {
    if (anew) rest(instance, refusals.was_full(), now);
    return out;
  }
  for (const auto& one : instance.occupancy.attempts())
    if (one.started && now.mono - *one.started >= kPreparation && one.sequence < start.sequence)
      start_held(instance, one.sequence, now);
  refusals.refused(start, anew);
  if (refusals.are_too_many()) return broken(instance, {"start", text}, now);
  // A single refusal may be chance: the next start may succeed.
  if (anew && refusals.in_a_row() > 1) rest(instance, refusals.in_a_row() - 1, now);
  return out;
}

bool may_change_key(const Instance& instance, const model::PoolPolicy& pool) {
  return pool.rotate_keys && instance.record.identity.rotation == model::Rotation::kDue &&
         !instance.link.has_ended_rotation();
}

Outcome rotation_proposed(Instance& instance, const model::RotationProposed& event) {
  Outcome out;
  if (!has_link(instance) || !instance.record.identity.verified_by) return out;
  instance.record.identity.next_public_key = event.next_public_key;
  instance.record.identity.next_secret = event.next_secret;
  out.changed = true;
  return out;
}

Outcome rotation_ended(Instance& instance, const model::RotationEnded& event) {
  Outcome out;
  auto& identity = instance.record.identity;
  if (!has_link(instance)) return out;
  instance.link.rotation_ended();
  if (event.never && identity.rotation == model::Rotation::kDue) {
    identity.rotation = model::Rotation::kNone;
    out.changed = true;
    out.event = Event::kRotationNone;
    out.reason = event.text;
  } else if (!event.rotated) {
    out.event = Event::kRotationPutOff;
    out.reason = event.text;
  }
  if (event.rotated && !identity.next_public_key.empty()) {
    identity.public_key = std::exchange(identity.next_public_key, {});
    identity.challenge_secret = std::exchange(identity.next_secret, {});
    identity.rotation = model::Rotation::kDone;
    out.changed = true;
    out.event = Event::kKeyRotated;
    out.reason = event.text;
  }
  return out;
}

}  // namespace hostler::fleet
