#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/units.h"
#include "core/fleet/transition.h"

/// Notices that the cloud takes an instance back.
namespace hostler::fleet {
namespace {

using model::Event;
using model::InstanceState;
using model::InterruptionAction;
using model::Notice;

constexpr Duration kFarAway = std::chrono::hours(24) * 365;  ///< Such a time cannot be true.
/// Clocks may jump: each notice is looked at again after this time.
constexpr Duration kReview = std::chrono::minutes(10);
constexpr Duration kAlike = std::chrono::seconds(5);
/// A restart that was announced may come so much sooner.
constexpr Duration kEarly = std::chrono::minutes(1);
constexpr const char* kWithdrawn = "withdrawn";

bool is_ending(const Instance& instance) {
  const auto state = instance.record.state;
  return state == InstanceState::kTerminating || state == InstanceState::kAbandoned ||
         state == InstanceState::kGone;
}

/// Nobody has seen it since: the evidence that it is gone is still to come.
bool may_have_happened(const Instance& instance) {
  return instance.link.unreachable_since() || instance.record.state == InstanceState::kVanished;
}

Wall time_of(const Notice& notice) { return notice.at.us != 0 ? notice.at : notice.noticed; }

/// Of one interruption. Sources compute its time in their own ways, and not all say the action:
/// lists cannot.
bool is_alike(const Notice& a, const Notice& b) {
  const Duration apart = a.at < b.at ? b.at - a.at : a.at - b.at;
  return (a.action == b.action || a.action == InterruptionAction::kNotSaid ||
          b.action == InterruptionAction::kNotSaid) &&
         (a.at.us == 0) == (b.at.us == 0) && apart <= kAlike;
}

/// The first interruption of those announced, with its action if any source says it.
std::optional<Notice> first_of(const Instance& instance) {
  std::optional<Notice> out;
  for (const auto& notice : instance.notices)
    if (notice && (!out || time_of(*notice) < time_of(*out))) out = notice;
  for (const auto& notice : instance.notices)
    if (notice && out->action == InterruptionAction::kNotSaid && is_alike(*notice, *out))
      out->action = notice->action;
  return out;
}

bool is_near(const Notice& notice, const model::PoolPolicy& pool, Now now) {
  return notice.at.us == 0 || notice.at - now.wall <= pool.interruption_lead;
}

void tell(Instance& instance, Outcome& out, Event event, const char* code, std::string reason) {
  if (instance.notices_told >= kNoticesToldMax) return;
  ++instance.notices_told;
  out.event = event;
  out.reason_code = code;
  out.reason = std::move(reason);
}

/// No notice holds any more; `why`: the reason code of the event.
void over(Instance& instance, const char* why, Outcome& out) {
  auto& record = instance.record;
  if (!record.interruption) return;
  const bool was_cordoned = std::exchange(instance.cordoned, false);
  out.changed = true;
  if (!out.event && !is_ending(instance))
    tell(instance, out, Event::kInterruptionOver, why,
         to_string(*record.interruption) + (was_cordoned ? "; it gets jobs again" : ""));
  record.interruption.reset();
  // Who says it and takes it back again and again fills no ledger.
  if (std::string_view(why) != kWithdrawn) instance.notices_told = 0;
  instance.notice_deadline = kNever;
}

/// When the next of its times comes.
void set_notice_deadline(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Duration next = kReview;
  const auto look = [&](Wall at) {
    const Duration in = at - now.wall;
    if (in > Duration::zero()) next = std::min(next, in);
  };
  for (const auto& notice : instance.notices) {
    if (!notice) continue;
    look(notice->holds_until());
    if (notice->at.us == 0) continue;
    look(notice->at + -pool.interruption_lead);
    look(notice->at + -pool.interruption_margin);
  }
  instance.notice_deadline = now.mono + next;
}

/// Brings the record and the cordon into agreement with the notices. `why`: the reason code if none
/// is left.
Outcome review(Instance& instance, const model::PoolPolicy& pool, const char* why, Now now) {
  Outcome out;
  for (auto& notice : instance.notices)
    if (notice && notice->holds_until() <= now.wall && !may_have_happened(instance)) notice.reset();
  auto& counts = instance.record.interruption;
  const std::optional<Notice> first = first_of(instance);
  if (!first) {
    over(instance, why, out);
    return out;
  }
  const bool is_news = !counts || !is_alike(*counts, *first);
  if (!counts || *counts != *first) {
    const Wall since = counts ? counts->noticed : first->noticed;
    out.changed =
        !counts || is_news || counts->source != first->source || counts->action != first->action;
    if (out.changed) counts = *first;
    counts->noticed = since;
  }
  const bool was_cordoned = instance.cordoned;
  instance.cordoned = is_near(*counts, pool, now) || (was_cordoned && !is_news);
  if (is_news)
    tell(instance, out, Event::kInterruption, to_string(counts->source),
         to_string(*counts) + (instance.cordoned
                                   ? "; it gets no new jobs"
                                   : "; from " + format_wall(counts->at + -pool.interruption_lead) +
                                         " on it gets no new jobs"));
  else if (instance.cordoned && !was_cordoned)
    tell(instance, out, Event::kCordoned, "", to_string(*counts));
  set_notice_deadline(instance, pool, now);
  return out;
}

}  // namespace

Outcome noticed(Instance& instance, Notice notice, const model::PoolPolicy& pool, Now now) {
  if (is_ending(instance)) return {};
  auto& known = instance.notices[static_cast<std::size_t>(notice.source)];
  if (notice.action == InterruptionAction::kWithdrawn) {
    if (!known) return {};
    known.reset();
    return review(instance, pool, kWithdrawn, now);
  }
  if (notice.at.us != 0 &&
      (notice.at + model::kNoticeHolds <= now.wall || notice.at > now.wall + kFarAway))
    return {};
  if (known && known->action == notice.action && is_alike(*known, notice)) {
    if (notice.at.us == 0) known->noticed = now.wall;  // It still holds.
    return {};
  }
  notice.noticed = now.wall;
  known = std::move(notice);
  instance.reclaimed = true;
  return review(instance, pool, kWithdrawn, now);
}

Outcome notice_due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  instance.notice_deadline = kNever;
  if (is_ending(instance)) return {};
  return review(instance, pool, instance.restart_announced ? "happened" : "lapsed", now);
}

bool ends_work_now(const Instance& instance, const model::PoolPolicy& pool, Now now) {
  const auto& notice = instance.record.interruption;
  return instance.cordoned && notice && notice->at.us != 0 &&
         pool.interruption_margin > Duration::zero() &&
         notice->at - now.wall <= pool.interruption_margin;
}

void restart_happened(Instance& instance, Now now) {
  instance.restart_announced = false;
  for (auto& notice : instance.notices) {
    if (!notice || notice->action != InterruptionAction::kRestart) continue;
    if (notice->at.us != 0 && notice->at - now.wall > kEarly) continue;
    notice.reset();
    instance.restart_announced = true;
    instance.notice_deadline = now.mono;
  }
}

void stop_happened(Instance& instance) {
  bool others = false;
  for (auto& notice : instance.notices) {
    if (!notice) continue;
    const bool is_it = notice->action == InterruptionAction::kStop ||
                       notice->action == InterruptionAction::kSuspend;
    if (is_it) notice.reset();
    others |= !is_it;
  }
  Outcome unused;  // That it stopped is journalled and told.
  unused.event = Event::kStopped;
  if (!others) over(instance, "happened", unused);
}

}  // namespace hostler::fleet
