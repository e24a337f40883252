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

constexpr std::uint32_t kDestroysIgnored = 3;  ///< Accepted ones, until it is reported.

bool switched_off(CloudState state) {
  return state == CloudState::kStopping || state == CloudState::kStopped ||
         state == CloudState::kSuspended;
}

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
  if (is_ending || instance.destroys_accepted < kDestroysIgnored ||
      as_of <= instance.destroy_accepted_at || std::exchange(instance.destroy_ignored, true))
    return;
  out.changed = true;
  out.event = Event::kDestroyIgnored;
  out.reason = "the cloud has accepted " + std::to_string(instance.destroys_accepted) +
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
  if (needs_link(pool) && !instance.record.address.empty()) out.effects.push_back(Effect::kConnect);
  if (pool.readiness == model::Readiness::kCloud) out.effects.push_back(Effect::kList);
}

/// A driver that takes several calls to make an instance may have died between them: what its cloud
/// shows as pending would stay so. Repeated, the create goes on where it was.
void finish_create(Instance& instance, const model::ListedInstance& seen, Outcome& out, Now now) {
  if (seen.state == CloudState::kRunning) instance.create_outcome_unknown = false;
  if (!instance.create_outcome_unknown || seen.state != CloudState::kPending) return;
  if (instance.create_tries >= kCreateTriesMax || now.mono < instance.create_again_at) return;
  instance.create_again_at = now.mono + create_pause(instance);
  out.effects.push_back(Effect::kFinishCreate);
}

/// A list shows it after all. It is proved again before it gets work.
void reappear(Instance& instance, const model::PoolPolicy& pool, Outcome& out, Now now) {
  instance.record.gone = {};
  enter(instance, InstanceState::kUnknown, out, Event::kListedAgain, Reason::kNone,
        "the cloud lists it again", now);
  set_deadline(instance, now.mono + pool.probe_timeout, now);
  connect_or_list(instance, pool, out);
}

/// It was off when the backup was made, and was switched on since.
void found_on(Instance& instance, const model::PoolPolicy& pool, Outcome& out, Now now) {
  enter(instance, InstanceState::kUnknown, out, Event::kAdopted, Reason::kRestart,
        "it was switched on after the backup was made", now);
  set_deadline(instance, now.mono + pool.probe_timeout, now);
  connect_or_list(instance, pool, out);
}

}  // namespace

void note_error(Instance& instance, const model::ListedInstance& seen) {
  // One that runs has no error any more; one that ends keeps the first that was said.
  if (!seen.state_error.empty() || seen.state == CloudState::kRunning)
    instance.cloud_error = seen.state_error;
}

Outcome listed(Instance& instance, const model::ListedInstance& seen, Mono as_of,
               const model::PoolPolicy& pool, Now now) {
  Outcome out;
  auto& record = instance.record;
  if (record.state == InstanceState::kGone) return out;
  const bool outdated = as_of <= instance.power_at;
  const Refreshed fields = refresh(record, seen, !outdated && !switched_off(seen.state));
  out.changed = fields.any;
  instance.known_at = now.mono;
  instance.seen_listed = true;
  instance.absence.reset();
  if (record.absent_sightings != 0) {
    record.absent_sightings = 0;
    out.changed = true;
  }
  instance.reclaimed |= seen.interruption.us != 0;
  instance.unfulfilled_spot = seen.state == CloudState::kRequested;
  note_error(instance, seen);
  instance.listed_off =
      !outdated && (switched_off(seen.state) || seen.state == CloudState::kTerminating);

  switch (record.state) {
    case InstanceState::kTerminating:
      report_ignored_destroys(instance, seen, as_of, out);
      return out;
    case InstanceState::kAbandoned: {
      Outcome end = terminate(instance, Reason::kAbandonedSeen,
                              "showed up after its create was given up", now);
      return end;
    }
    default:
      break;
  }
  if (record.state == InstanceState::kRequested && seen.state == CloudState::kGone)
    return terminate(instance, Reason::kGoneAlready,
                     and_cloud_error("its create found it gone already", instance), now);
  if (record.state == InstanceState::kVanished && seen.state != CloudState::kFailed)
    reappear(instance, pool, out, now);
  if (seen.state == CloudState::kFailed && instance.is_live()) {
    if (!std::exchange(instance.failure_told, true)) {
      out.event = Event::kContradicted;
      out.reason = "the cloud lists it as failed" + clouds_words(seen) +
                   ", but its host is connected: its jobs go on";
    }
    return out;
  }
  if (seen.state == CloudState::kFailed)
    return terminate(instance, Reason::kCloudFailed, "the cloud says failed" + clouds_words(seen),
                     now);
  if (switched_off(seen.state)) {
    if (outdated || !instance.empty()) return out;
    if (record.state != InstanceState::kStopped)
      stopped_by_itself(instance, seen.state_reason, out, now);
    if (seen.state == CloudState::kStopping) {
      set_deadline(instance, kNever, now);  // The stop was executed: no retry.
      return out;
    }
    if (instance.seen_stopped) return out;
    instance.seen_stopped = true;
    if (std::exchange(record.restored, false)) out.changed = true;  // Nothing runs on it.
    if (!out.event) out.event = Event::kOff;                        // It can be woken from now on.
    return out;
  }
  if (record.state == InstanceState::kStopped) {
    // The stop was lost, or somebody switched it on in the cloud: the journal decides.
    if (outdated || seen.state != CloudState::kRunning) return out;
    if (record.restored)
      found_on(instance, pool, out, now);
    else
      out.effects.push_back(Effect::kStop);
    return out;
  }
  if (record.state == InstanceState::kRequested && seen.state != CloudState::kRequested) {
    enter(instance, InstanceState::kBooting, out, Event::kCreated, Reason::kNone,
          "the cloud's id is " + record.provider_id, now);
    set_deadline(instance, now.mono + pool.boot_timeout, now);
    connect_or_list(instance, pool, out);
    finish_create(instance, seen, out, now);
    return out;
  }
  if (record.state == InstanceState::kRequested) {
    // The cloud has it, so the outcome of the create is known. Only a spot request may wait.
    instance.create_outcome_unknown = false;
    const bool waits = record.market == model::Market::kSpot;
    if (!waits && instance.deadline != kNever) return out;
    out.changed |= !waits || instance.deadline != kNever;
    set_deadline(instance, waits ? kNever : now.mono + pool.boot_timeout, now);
    return out;
  }
  if (fields.endpoint && needs_link(pool) && !record.address.empty()) {
    // A false list must not end a connection that lives.
    if (instance.connected)
      instance.endpoint_changed = true;
    else
      out.effects.push_back(Effect::kConnect);
  }
  if (record.state == InstanceState::kBooting) finish_create(instance, seen, out, now);
  if (record.state == InstanceState::kBooting && needs_link(pool) && record.address.empty()) {
    record.last_text = "address: the cloud shows none yet";
    out.effects.push_back(Effect::kList);
  }
  if (pool.readiness == model::Readiness::kCloud && seen.state == CloudState::kRunning && !outdated)
    become_ready_without_agent(instance, out, now);
  return out;
}

}  // namespace hostler::fleet
