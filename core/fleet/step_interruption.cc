#include <algorithm>
#include <optional>
#include <string_view>
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
constexpr const char* kWithdrawn = "withdrawn";
constexpr const char* kHappened = "happened";

bool is_ending(const Instance& instance) {
  const auto state = instance.record.state;
  return state == InstanceState::kTerminating || state == InstanceState::kAbandoned ||
         state == InstanceState::kGone;
}

/// Nobody has seen it since: the evidence that it is gone is still to come.
bool may_have_happened(const Instance& instance) {
  return instance.link.unreachable_since() || instance.record.state == InstanceState::kVanished;
}

bool is_near(const Notice& notice, const model::PoolPolicy& pool, Now now) {
  return notice.at.us == 0 || notice.at - now.wall <= pool.interruption_lead;
}

void tell(Instance& instance, Outcome& out, Event event, const char* code, std::string reason) {
  if (!instance.notices.tell()) return;
  out.event = event;
  out.reason_code = code;
  out.reason = std::move(reason);
}

/// No notice holds any more; `why`: the reason code of the event.
void over(Instance& instance, const char* why, Outcome& out) {
  auto& record = instance.record;
  if (!record.interruption) return;
  out.changed = true;
  if (!out.event && !is_ending(instance))
    tell(instance, out, Event::kInterruptionOver, why,
         to_string(*record.interruption) +
             (instance.notices.is_cordoned() ? "; it gets jobs again" : ""));
  record.interruption.reset();
  instance.notices.end(/*is_withdrawn=*/std::string_view(why) == kWithdrawn);
}

/// When the next of its times comes.
void set_notice_deadline(Instance& instance, const model::PoolPolicy& pool, Now now) {
  Duration next = kReview;
  const auto look = [&](Wall at) {
    const Duration in = at - now.wall;
    if (in > Duration::zero()) next = std::min(next, in);
  };
  for (const auto& notice : instance.notices.all()) {
    if (!notice) continue;
    look(notice->holds_until());
    if (notice->at.us == 0) continue;
    look(notice->at + -pool.interruption_lead);
    look(notice->at + -pool.interruption_margin);
  }
  instance.notices.look_again_at(now.mono + next);
}

/// Brings the record and the cordon into agreement with the notices. `why`: the reason code if none
/// is left.
Outcome review(Instance& instance, const model::PoolPolicy& pool, const char* why, Now now) {
  Outcome out;
  if (!may_have_happened(instance)) instance.notices.drop_past(now.wall);
  auto& counts = instance.record.interruption;
  const std::optional<Notice> first = instance.notices.first();
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
  const bool was_cordoned = instance.notices.is_cordoned();
  const bool is_cordoned = is_near(*counts, pool, now) || (was_cordoned && !is_news);
  instance.notices.set_cordoned(is_cordoned);
  if (is_news)
    tell(instance, out, Event::kInterruption, to_string(counts->source),
         to_string(*counts) + (is_cordoned
                                   ? "; it gets no new jobs"
                                   : "; from " + format_wall(counts->at + -pool.interruption_lead) +
                                         " on it gets no new jobs"));
  else if (is_cordoned && !was_cordoned)
    tell(instance, out, Event::kCordoned, "", to_string(*counts));
  set_notice_deadline(instance, pool, now);
  return out;
}

}  // namespace

Outcome noticed(Instance& instance, Notice notice, const model::PoolPolicy& pool, Now now) {
  if (is_ending(instance)) return {};
  if (notice.action == InterruptionAction::kWithdrawn) {
    if (!instance.notices.withdraw(notice.source)) return {};
    return review(instance, pool, kWithdrawn, now);
  }
  if (notice.at.us != 0 &&
      (notice.at + model::kNoticeHolds <= now.wall || notice.at > now.wall + kFarAway))
    return {};
  if (!instance.notices.take(std::move(notice), now.wall)) return {};
  return review(instance, pool, kWithdrawn, now);
}

Outcome notice_due(Instance& instance, const model::PoolPolicy& pool, Now now) {
  instance.notices.look_again_at(kNever);
  if (is_ending(instance)) return {};
  return review(instance, pool, instance.notices.was_restart_announced() ? kHappened : "lapsed",
                now);
}

bool ends_work_now(const Instance& instance, const model::PoolPolicy& pool, Now now) {
  const auto& notice = instance.record.interruption;
  return instance.notices.is_cordoned() && notice && notice->at.us != 0 &&
         pool.interruption_margin > Duration::zero() &&
         notice->at - now.wall <= pool.interruption_margin;
}

void stop_happened(Instance& instance) {
  if (!instance.notices.stop_happened()) return;
  Outcome unused;  // That it stopped is journalled and told.
  unused.event = Event::kStopped;
  over(instance, kHappened, unused);
}

}  // namespace hostler::fleet
