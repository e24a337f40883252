#include <algorithm>
#include <utility>

#include "core/fleet/transition.h"

/// The disappearance of an instance. A list is a claim of the cloud, so the instance is gone only
/// when a look-up by its id and its connection agree with two lists.
namespace hostler::fleet {
namespace {

using model::Event;
using model::InstanceState;
using model::Reason;

/// While lists still omit it, it is looked up by its id again after this time. A destroyed instance
/// is looked up sooner, because others wait for its place in the ceilings.
constexpr Duration kLookUpAgain = std::chrono::minutes(1);
constexpr Duration kLookUpDestroyedAgain = std::chrono::seconds(5);
/// A connected host that lists omit still gets new work for this time.
constexpr Duration kWithheldAfter = std::chrono::minutes(1);
constexpr std::uint32_t kListsWanted = 2;

/// The cloud never confirmed that the create had an effect.
Outcome create_absent(Instance& instance, const ListWithout& list, Now now) {
  Outcome out;
  if (!instance.creating.is_outcome_unknown()) return out;
  const Duration pause = std::max(list.consistency, create_pause(instance));
  if (instance.deadline > now.mono && list.sent - instance.listing.known_at() >= pause) {
    // A complete list does not show it: send the same create again.
    out.effects.push_back(Effect::kCreateAgain);
    instance.listing.ignore_until(now.mono);
  } else {
    out.effects.push_back(Effect::kList);
    out.list_after = std::max(out.list_after, instance.listing.known_at() + pause - now.mono);
  }
  return out;
}

/// What is stopped or booted anew still exists.
bool is_end_announced(const Instance& instance) {
  using enum model::InterruptionAction;
  const auto& notice = instance.record.interruption;
  return notice && (notice->action == kTerminate || notice->action == kNotSaid);
}

/// A destroyed instance is gone. Another one is remembered: a list may show it again.
void leave(Instance& instance, bool counts, Reason vanished, const std::string& reason,
           Outcome& out, Now now) {
  auto& record = instance.record;
  record.gone = now.wall;
  if (record.state == InstanceState::kTerminating) {
    const Reason code = record.reason_code;
    const std::string why = record.reason;
    enter(instance, InstanceState::kGone, out, Event::kGone, code, why, now);
    record.identity = {};  // The secrets are of no more use.
    out.effects = {Effect::kDisconnect, Effect::kGone};
    return;
  }
  enter(instance, InstanceState::kVanished, out, Event::kVanished, vanished, reason, now);
  stop_expecting(instance);
  instance.listing.vanished(counts);
  if (counts) set_deadline(instance, now.mono + kVanishedCounts, now);
  out.effects = {Effect::kDisconnect, Effect::kWorkLost};
  if (!counts) out.effects.push_back(Effect::kRoomFreed);
}

/// A live connection contradicts the lists. `withhold`: the look-up did not find the instance
/// either, so it gets no new work after a while.
void contradict(Instance& instance, bool withhold, Outcome& out, Now now) {
  if (instance.listing.contradict()) {
    out.event = Event::kUnlisted;
    out.reason = "lists omit the instance, but its host is connected: its jobs go on";
  }
  const bool is_long = now.wall - instance.listing.absence()->since >= kWithheldAfter;
  if (withhold && is_long) instance.listing.withhold();
}

void decide(Instance& instance, bool can_look_up, Outcome& out, Now now) {
  const Absence& absence = *instance.listing.absence();
  const bool looked_up = absence.is_confirmed();
  const bool destroyed = instance.record.state == InstanceState::kTerminating;
  const Duration pause = destroyed ? kLookUpDestroyedAgain : kLookUpAgain;
  if (can_look_up && !(absence.answered && now.mono - *absence.answered < pause))
    out.effects.push_back(Effect::kLookUp);
  if (instance.record.absent_sightings < kListsWanted) return;
  if (instance.link.is_live() && !destroyed)
    return contradict(instance, /*withhold=*/looked_up || !can_look_up, out, now);
  if (can_look_up && !looked_up) return;
  // A destroy that the cloud refused for now is sent again, whatever lists say.
  if (destroyed && !instance.ending.is_settled() && !absence.found_gone) return;
  leave(instance, !absence.found_gone && !is_end_announced(instance), Reason::kVanished,
        and_cloud_error("two lists and a look-up by its id omit it", instance), out, now);
}

}  // namespace

Outcome absent(Instance& instance, const ListWithout& list, Now now) {
  Outcome out;
  auto& record = instance.record;
  if (record.state == InstanceState::kGone) return out;
  if (record.state == InstanceState::kAbandoned || record.state == InstanceState::kVanished) {
    instance.listing.omitted(list.sent);
    return out;
  }
  if (instance.listing.is_old(list.sent)) return out;  // The list may be older than the instance.
  const bool never_shown = record.provider_id.empty();
  if (record.state == InstanceState::kRequested && never_shown)
    return create_absent(instance, list, now);
  instance.listing.doubt(now.wall, list.sent);
  const bool destroyed = record.state == InstanceState::kTerminating;
  const Duration apart = destroyed ? list.consistency : proof_takes(list.consistency);
  const bool too_soon =
      record.absent_sightings > 0 && list.sent - instance.listing.absent_at() < apart;
  if (!too_soon && record.absent_sightings < kListsWanted) {
    instance.listing.omitted(list.sent);
    ++record.absent_sightings;
    out.changed = true;
  }
  if (record.absent_sightings < kListsWanted) {
    out.effects.push_back(Effect::kList);
    out.list_after = std::max(out.list_after, instance.listing.absent_at() + apart - now.mono);
  }
  if (!never_shown) {
    decide(instance, list.can_look_up, out, now);
  } else if (record.absent_sightings >= kListsWanted) {
    // No list ever showed it: the create may still be executed.
    enter(instance, InstanceState::kAbandoned, out, Event::kAbandoned, record.reason_code,
          "given up before the cloud ever showed it; if it shows up it is destroyed", now);
  }
  return out;
}

Outcome found(Instance& instance, const model::ListedInstance& seen, Mono sent,
              const model::PoolPolicy& pool, Now now) {
  const auto before = instance.listing.absence();
  Outcome out = listed(instance, seen, sent, pool, now);
  if (before && instance.record.state != InstanceState::kGone)
    instance.listing.found(*before, sent);
  return out;
}

Outcome not_found(Instance& instance, Mono sent, bool gone, Now now) {
  Outcome out;
  if (!instance.listing.absence() || instance.listing.is_old(sent)) return out;
  instance.listing.not_found(sent, gone);
  decide(instance, true, out, now);
  return out;
}

Outcome believed_absent(Instance& instance, const std::string& actor, Now now) {
  Outcome out;
  if (instance.record.state == InstanceState::kVanished && instance.listing.stop_counting()) {
    instance.deadline = kNever;  // The caller sets the one of an instance that is remembered.
    out.changed = true;
    out.event = Event::kVanished;
    out.reason_code = to_string(Reason::kBelieved);
    out.reason = actor + " says that the cloud's list is right: it counts for no ceiling any more";
    out.effects.push_back(Effect::kRoomFreed);
    return out;
  }
  if (!instance.listing.absence() || instance.link.is_live()) return out;
  leave(instance, false, Reason::kBelieved, actor + " says that the cloud's list is right", out,
        now);
  return out;
}

}  // namespace hostler::fleet
