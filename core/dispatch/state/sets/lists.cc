#include "core/dispatch/state/sets/lists.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

/// Without answers creates go on then: a cloud that cannot be asked must not stop the site.
constexpr Duration kPatience = std::chrono::minutes(10);

/// From the send of a good list until the next one is overdue. When a list comes, the one before is
/// as old as one interval and the time that both have taken.
Duration overdue_after(Duration interval, Duration took) {
  constexpr Duration kLeast = std::chrono::seconds(30);
  return std::max(kLeast, 3 * std::max(interval, took));
}

}  // namespace

void ListCalls::want(Mono at, Duration pause) {
  at_ = std::min(at_, std::max({at, sent_ + pause, not_before_}));
}

void ListCalls::begin(Duration interval, Mono now) {
  good_at_ = now;
  overdue_at_ = now + overdue_after(interval, Duration::zero());
}

void ListCalls::opened(Mono now) {
  failures_ = 0;
  at_ = now;
}

void ListCalls::sent(Mono now) {
  HOSTLER_ASSERT(!under_way_, "a set is listed by one call at a time");
  under_way_ = true;
  at_ = fleet::kNever;
  sent_ = now;
}

bool ListCalls::succeeded(Mono sent, Duration interval, Mono now) {
  failures_ = 0;
  good_at_ = sent;
  overdue_at_ = sent + overdue_after(interval, now - sent);
  const bool was_overdue = std::exchange(overdue_, false);
  return !std::exchange(suspended_, {}).empty() || was_overdue;
}

void ListCalls::set_overdue() {
  HOSTLER_ASSERT(!overdue_, "a list becomes overdue once");
  overdue_ = true;
}

Duration ListCalls::failed(std::optional<Duration> asked, Mono now) {
  if (asked) not_before_ = now + std::min(*asked, kAskedPauseMax);
  return fleet::backoff(++failures_, std::chrono::seconds(1), std::chrono::minutes(1));
}

bool ListCalls::suspend(const std::string& why) { return std::exchange(suspended_, why) != why; }

void Omissions::take(std::vector<model::InstanceId> instances) {
  // An admin who has looked at the same instances before need not look again.
  if (list_number_ == 0 || instances != instances_) ++list_number_;
  instances_ = std::move(instances);
}

void Omissions::begin_doubt(bool reported, Now now) {
  HOSTLER_ASSERT(!doubt_, "a doubt begins once");
  doubt_ =
      ListDoubt{.since = now.wall, .patience_ends = now.mono + kPatience, .reported = reported};
}

bool Omissions::set_asking(bool asking, Mono now) {
  HOSTLER_ASSERT(doubt_, "answers are awaited for a doubted list");
  if (doubt_->is_asking() == asking) return false;
  if (asking) doubt_->patience_ends = now + kPatience;  // Again: the patience begins anew.
  doubt_->answers = asking ? ListDoubt::Answers::kAwaited : ListDoubt::Answers::kComplete;
  return true;
}

void Omissions::set_overdue() {
  HOSTLER_ASSERT(awaits_answers(), "only awaited answers are overdue");
  doubt_->answers = ListDoubt::Answers::kOverdue;
}

}  // namespace hostler::dispatch
