#include "core/fleet/notices.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::fleet {
namespace {

using model::InterruptionAction;
using model::Notice;

constexpr Duration kAlike = std::chrono::seconds(5);
/// A restart that was announced may come so much sooner.
constexpr Duration kEarly = std::chrono::minutes(1);

Wall time_of(const Notice& notice) { return notice.at.us != 0 ? notice.at : notice.noticed; }

}  // namespace

bool is_alike(const Notice& a, const Notice& b) {
  const Duration apart = a.at < b.at ? b.at - a.at : a.at - b.at;
  return (a.action == b.action || a.action == InterruptionAction::kNotSaid ||
          b.action == InterruptionAction::kNotSaid) &&
         (a.at.us == 0) == (b.at.us == 0) && apart <= kAlike;
}

void Notices::restore(const Notice& notice, Mono now) {
  at(notice.source) = notice;
  deadline_ = now;
  reclaimed_ = true;
}

bool Notices::take(Notice notice, Wall now) {
  auto& known = at(notice.source);
  if (known && known->action == notice.action && is_alike(*known, notice)) {
    if (notice.at.us == 0) known->noticed = now;  // It still holds.
    return false;
  }
  notice.noticed = now;
  known = std::move(notice);
  reclaimed_ = true;
  return true;
}

bool Notices::withdraw(model::NoticeSource source) {
  return std::exchange(at(source), {}).has_value();
}

void Notices::drop_past(Wall now) {
  for (auto& notice : notices_)
    if (notice && notice->holds_until() <= now) notice.reset();
}

void Notices::restart_happened(Now now) {
  restart_announced_ = stop_announced_ = false;
  for (auto& notice : notices_) {
    if (!notice || notice->action != InterruptionAction::kRestart) continue;
    if (notice->at.us != 0 && notice->at - now.wall > kEarly) continue;
    notice.reset();
    restart_announced_ = true;
    deadline_ = now.mono;
  }
}

bool Notices::stop_happened() {
  stop_announced_ = cordoned_;
  for (auto& notice : notices_)
    if (notice && (notice->action == InterruptionAction::kStop ||
                   notice->action == InterruptionAction::kSuspend))
      notice.reset();
  return !any_holds();
}

bool Notices::any_holds() const {
  return std::ranges::any_of(notices_, [](const auto& notice) { return notice.has_value(); });
}

void Notices::set_cordoned(bool cordoned) {
  HOSTLER_ASSERT(!cordoned || any_holds(), "a host is cordoned by a notice that holds");
  cordoned_ = cordoned;
}

void Notices::end(bool is_withdrawn) {
  if (!is_withdrawn) told_ = 0;
  deadline_ = kNever;
  cordoned_ = false;
}

bool Notices::tell() {
  if (!may_tell()) return false;
  ++told_;
  return true;
}

std::optional<Notice> Notices::first() const {
  std::optional<Notice> out;
  for (const auto& notice : notices_)
    if (notice && (!out || time_of(*notice) < time_of(*out))) out = notice;
  for (const auto& notice : notices_)
    if (notice && out->action == InterruptionAction::kNotSaid && is_alike(*notice, *out))
      out->action = notice->action;
  return out;
}

}  // namespace hostler::fleet
