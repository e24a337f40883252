#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/fleet/transition.h"

namespace hostler::fleet {
namespace {

using model::CloudState;
using model::Event;
using model::InstanceState;
using model::Reason;

struct Refreshed {
  bool any = false;       ///< A field of the record changed.
  bool endpoint = false;  ///< A field that the link needs changed.
};

/// Copies the fields that the cloud decides. The address of a machine that is off is ignored: it
/// may belong to another machine by now.
Refreshed refresh(model::InstanceRecord& record, const model::ListedInstance& seen, bool is_on) {
  const auto copy = [](bool& changed, auto& ours, const auto& theirs) {
    if (ours == theirs) return;
    ours = theirs;
    changed = true;
  };
  Refreshed out;
  copy(out.endpoint, record.provider_id, seen.id);
  if (!seen.request_id.empty()) copy(out.any, record.request_id, seen.request_id);
  if (is_on && !seen.address.empty()) copy(out.endpoint, record.address, seen.address);
  if (!seen.remote_user.empty()) copy(out.endpoint, record.remote_user, seen.remote_user);
  if (!seen.zone.empty()) copy(out.any, record.zone, seen.zone);
  if (seen.ssh_port != 0) copy(out.endpoint, record.ssh_port, seen.ssh_port);
  if (seen.price_per_hour) copy(out.any, record.price_per_hour, *seen.price_per_hour);
  out.any |= out.endpoint;
  return out;
}

/// A destroy is asked for again and again; an admin has to know that the cloud does nothing.
void report_ignored_destroys(Instance& instance, const model::ListedInstance& seen, Mono as_of,
                             Outcome& out) {
  const bool is_ending = seen.state == CloudState::kTerminating ||
                         seen.state == CloudState::kStopping || seen.state == CloudState::kGone;
  if (is_ending || !instance.ending.ignored(as_of)) return;
  out.changed = true;
  out.event = Event::kDestroyIgnored;
  out.reason = "the cloud has accepted " + std::to_string(instance.ending.accepted_destroys()) +
               " destroys, and lists it as " + to_string(seen.state) +
               ": it may still cost money; look for " + printable(seen.id, 80) +
               " in the cloud's console";
  instance.record.last_text = out.reason;
}

/// ": what it says of the state"; empty: nothing.
std::string clouds_words(const model::ListedInstance& seen) {
  const std::string& words = seen.state_error.empty() ? seen.state_reason : seen.state_error;
  return words.empty() ? words : ": " + words;
}

/// What brings a new instance nearer to being ready: its link, or the next list.
void connect_or_list(const Instance& instance, const model::PoolPolicy& pool, Outcome& out) {
  if (needs_link(instance, pool) && !instance.record.address.empty())
    out.effects.push_back(Effect::kConnect);
  if (is_evidence_of_list(instance, pool)) out.effects.push_back(Effect::kList);
}

/// A driver that takes several calls to make an instance may have died between them: what its cloud
/// shows as pending would stay so. Repeated, the create goes on where it was.
void finish_create(Instance& instance, const model::ListedInstance& seen, Outcome& out, Now now) {
  auto& creating = instance.creating;
  if (seen.state == CloudState::kRunning) creating.outcome_known();
  if (!creating.is_outcome_unknown() || seen.state != CloudState::kPending) return;
  if (!creating.may_finish(now.mono)) return;
  creating.wait_until(now.mono + create_pause(instance));
  out.effects.push_back(Effect::kFinishCreate);
}

/// A list shows it after all. It is proved again before it gets work.
void reappear(Instance& instance, const model::PoolPolicy& pool, Outcome& out, Now now) {
  instance.record.gone = {};
  enter(instance, InstanceState::kUnknown, out, Event::kListedAgain, Reason::kNone,
        "the cloud lists it again", now);
  set_deadline(instance, now.mono + pool.probe_timeout, now);
  connect_or_list(instance, pool, out);
  forget_agent(instance);  // No push was taken of it meanwhile.
  await_agent_anew(instance, pool, now);
}

/// It was off when the backup was made, and was switched on since.
void found_on(Instance& instance, const model::PoolPolicy& pool, Outcome& out, Now now) {
  enter(instance, InstanceState::kUnknown, out, Event::kAdopted, Reason::kRestart,
        "it was switched on after the backup was made", now);
  set_deadline(instance, now.mono + pool.probe_timeout, now);
  connect_or_list(instance, pool, out);
}

/// How the cloud shows an instance.
struct Sighting {
  const model::ListedInstance& seen;
  const model::PoolPolicy& pool;
  Now now;
  bool is_power_old;  ///< Its power state may be of a time before the last switch.
  Mono as_of;
  std::optional<Duration> consistency;  ///< Set: of a complete list.
};

/// Takes over all that is true in any state. True: a field that the link needs has changed.
bool note_sighting(Instance& instance, const Sighting& sighting, Outcome& out) {
  const auto& seen = sighting.seen;
  auto& record = instance.record;
  const Refreshed fields =
      refresh(record, seen, !sighting.is_power_old && !is_switched_off(seen.state));
  out.changed = fields.any || record.absent_sightings != 0;
  end_doubt(instance);
  instance.listing.shown(seen, sighting.is_power_old, sighting.now.mono);
  if (seen.interruption.us != 0) instance.notices.set_reclaimed();
  return fields.endpoint;
}

/// Work is on it, and the list shows that its machine does not run. True: an earlier list has shown
/// that too, and none has shown another thing since. If not, another list is asked for.
bool is_shown_twice(Instance& instance, const Sighting& sighting, Outcome& out) {
  auto& power = instance.power;
  if (!sighting.consistency) return false;
  const Duration apart = proof_takes(*sighting.consistency);
  const Mono provable = power.shown_off_at_work(sighting.as_of) + apart;
  if (sighting.as_of >= provable) return true;
  out.effects.push_back(Effect::kList);
  out.list_after = std::max(out.list_after, provable + *sighting.consistency - sighting.now.mono);
  return false;
}

/// Work is on it, which one false list must not end. True: it is off, for two lists say so and
/// nothing answers there. An instance that is being stopped may still run.
bool is_proved_off(Instance& instance, const Sighting& sighting, Outcome& out) {
  auto& power = instance.power;
  const bool is_kept = instance.record.restored || !instance.occupancy.left_alone().empty();
  if (sighting.seen.state == CloudState::kStopping || instance.link.is_live() || is_kept) {
    power.doubt_off();
    return false;
  }
  return is_shown_twice(instance, sighting, out);
}

/// A false list must not end a host that works. One without a connection cannot contradict.
void shown_failed(Instance& instance, const Sighting& sighting, Outcome& out) {
  const std::string words = clouds_words(sighting.seen);
  if (instance.link.is_live()) {
    if (!instance.listing.tell_failure()) return;
    out.event = Event::kContradicted;
    out.reason =
        "the cloud lists it as failed" + words + ", but its host is connected: its jobs go on";
    return;
  }
  const bool has_no_link = !needs_link(instance, sighting.pool);
  const bool is_doubtful =
      (!instance.empty() && has_no_link) || runs_tasks(instance, sighting.pool);
  if (is_doubtful && !is_shown_twice(instance, sighting, out)) return;
  out = terminate(instance, Reason::kCloudFailed, "the cloud says failed" + words, sighting.now);
}

void shown_off(Instance& instance, const Sighting& sighting, Outcome& out) {
  auto& record = instance.record;
  if (sighting.is_power_old) return;
  if (ends_as_used(instance, sighting.pool)) {
    out = end_as_used(instance, sighting.pool, sighting.now);
    return;
  }
  const bool loses_work = !instance.empty() || runs_tasks(instance, sighting.pool);
  if (loses_work && !is_proved_off(instance, sighting, out)) return;
  std::string reason = sighting.seen.state_reason;
  if (loses_work)
    reason = std::string("two lists show it ") + to_string(sighting.seen.state) +
             ", and its host does not answer" + (reason.empty() ? "" : ": " + reason);
  if (record.state != InstanceState::kStopped)
    stopped_by_itself(instance, reason, out, sighting.now);
  if (loses_work) out.effects.push_back(Effect::kWorkLost);
  if (sighting.seen.state == CloudState::kStopping) {
    set_deadline(instance, kNever, sighting.now);  // The stop was executed: no retry.
    return;
  }
  if (!instance.power.shown_off()) return;
  if (work_is_known(instance)) out.changed = true;  // Nothing runs on it.
  if (!out.event) out.event = Event::kOff;          // It can be woken from now on.
}

/// kStopped: the stop was lost, or somebody switched it on in the cloud. The journal decides.
void shown_on(Instance& instance, const Sighting& sighting, Outcome& out) {
  if (sighting.is_power_old || sighting.seen.state != CloudState::kRunning) return;
  if (instance.record.restored)
    found_on(instance, sighting.pool, out, sighting.now);
  else
    out.effects.push_back(Effect::kStop);
}

/// kRequested: the cloud knows it.
void shown_after_create(Instance& instance, const Sighting& sighting, Outcome& out) {
  const auto& [seen, pool, now, is_power_old, as_of, consistency] = sighting;
  if (seen.state != CloudState::kRequested) {
    const bool was_waiting =
        instance.record.market == model::Market::kSpot && instance.deadline == kNever;
    enter(instance, InstanceState::kBooting, out, Event::kCreated, Reason::kNone,
          "the cloud's id is " + instance.record.provider_id, now);
    set_deadline(instance, now.mono + pool.boot_timeout, now);
    if (was_waiting) await_agent_anew(instance, pool, now);
    connect_or_list(instance, pool, out);
    finish_create(instance, seen, out, now);
    return;
  }
  // The outcome of the create is known. Only a spot request may wait.
  instance.creating.outcome_known();
  const bool waits = instance.record.market == model::Market::kSpot;
  if (!waits && instance.deadline != kNever) return;
  out.changed |= !waits || instance.deadline != kNever;
  set_deadline(instance, waits ? kNever : now.mono + pool.boot_timeout, now);
}

/// What a new instance waits for, where no link tells it.
void note_step(Instance& instance, const Sighting& sighting, Outcome& out) {
  auto& record = instance.record;
  const auto kind = evidence_of(instance, sighting.pool);
  if (model::needs_link(kind) && !record.address.empty()) return;
  if (kind == model::Readiness::kReported) {
    record.last_text = "report: nobody has reported it as ready yet";
    return;
  }
  record.last_text =
      kind == model::Readiness::kCloud
          ? std::string("list: the cloud shows it as ") + to_string(sighting.seen.state)
          : "address: the cloud shows none yet";
  out.effects.push_back(Effect::kList);
}

/// It is on, or not yet off.
void shown_up(Instance& instance, const Sighting& sighting, bool endpoint_changed, Outcome& out) {
  const auto& [seen, pool, now, is_power_old, as_of, consistency] = sighting;
  auto& record = instance.record;
  const bool is_booting = record.state == InstanceState::kBooting;
  if (endpoint_changed && needs_link(instance, pool) && !record.address.empty()) {
    // A false list must not end a connection that lives.
    if (instance.link.is_connected())
      instance.link.endpoint_changed();
    else
      out.effects.push_back(Effect::kConnect);
  }
  if (is_booting) finish_create(instance, seen, out, now);
  if (is_booting) note_step(instance, sighting, out);
  if (is_evidence_of_list(instance, pool) && seen.state == CloudState::kRunning && !is_power_old)
    become_ready_without_agent(instance, pool, out, now);
}

}  // namespace

Outcome listed(Instance& instance, const model::ListedInstance& seen, Mono as_of,
               const model::PoolPolicy& pool, Now now, std::optional<Duration> consistency) {
  Outcome out;
  const InstanceState before = instance.record.state;
  if (before == InstanceState::kGone) return out;
  const Sighting sighting{seen, pool, now, instance.power.is_outdated(as_of), as_of, consistency};
  if (!is_switched_off(seen.state) && seen.state != CloudState::kFailed) instance.power.doubt_off();
  const bool endpoint_changed = note_sighting(instance, sighting, out);
  if (before == InstanceState::kTerminating) {
    report_ignored_destroys(instance, seen, as_of, out);
    return out;
  }
  if (before == InstanceState::kAbandoned)
    return terminate(instance, Reason::kAbandonedSeen, "showed up after its create was given up",
                     now);
  if (before == InstanceState::kRequested && seen.state == CloudState::kGone)
    return terminate(instance, Reason::kGoneAlready,
                     and_cloud_error("its create found it gone already", instance), now);
  if (seen.state == CloudState::kFailed) {
    shown_failed(instance, sighting, out);
    return out;
  }
  if (before == InstanceState::kVanished) reappear(instance, pool, out, now);
  if (is_switched_off(seen.state))
    shown_off(instance, sighting, out);
  else if (before == InstanceState::kStopped)
    shown_on(instance, sighting, out);
  else if (before == InstanceState::kRequested)
    shown_after_create(instance, sighting, out);
  else
    shown_up(instance, sighting, endpoint_changed, out);
  return out;
}

}  // namespace hostler::fleet
