#include "core/dispatch/state/sets/strangers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {

void LastDay::add(Mono now) {
  if (hours_.empty() || now - hours_.back().since >= std::chrono::hours(1)) {
    std::erase_if(hours_,
                  [&](const Hour& one) { return now - one.since >= std::chrono::hours(25); });
    hours_.push_back({now, 0});
  }
  ++hours_.back().count;
}

std::size_t LastDay::count(Mono now) const {
  std::size_t out = 0;
  for (const Hour& one : hours_)
    if (now - one.since < std::chrono::hours(25)) out += one.count;
  return out;
}

std::string Strangers::refuses_creates(const std::string& set) const {
  if (left().empty()) return {};
  const std::string all = std::to_string(list_.strangers.size());
  if (is_doubted())
    return "the last list shows " + all + " instances that hostlerd does not know, " +
           (lately_then_ == 0
                ? ""
                : "beside " + std::to_string(lately_then_) + " that it adopted in the last day, ") +
           "far more than its pools may have: none of them is adopted or destroyed; see hostler "
           "sets believe " +
           set;
  return "of " + all + " instances that hostlerd did not know " + std::to_string(left().size()) +
         " are still to be adopted";
}

void Strangers::count(std::uint32_t set, gates::Governor& governor) const {
  for (const Stranger& one : left()) governor.added(set, one.pool, one.price_per_hour);
}

StrangeList Strangers::take(StrangeList list, bool many, Now now) {
  HOSTLER_ASSERT(!is_adopting(), "a list waits until the one before is done");
  adopted_ = 0;
  if (list.strangers.empty()) believed_.clear();
  lately_then_ = lately_.count(now.mono);
  if (!many)
    doubted_since_.reset();
  else if (!doubted_since_)
    doubted_since_ = now.wall;
  next_ = now.mono;
  return std::exchange(list_, std::move(list));
}

void Strangers::believe(Mono now) {
  HOSTLER_ASSERT(is_doubted(), "only a doubted list is to be believed");
  doubted_since_.reset();
  lately_.clear();
  for (const Stranger& one : list_.strangers) believed_.insert(one.seen->id);
  next_ = now;
}

std::size_t Strangers::unbelieved(std::span<const Stranger> strangers, Mono now) const {
  if (strangers.empty()) return 0;
  return lately_.count(now) +
         static_cast<std::size_t>(std::ranges::count_if(
             strangers, [&](const Stranger& one) { return !believed_.contains(one.seen->id); }));
}

void Strangers::adopted(Mono now) {
  if (!believed_.contains(left().front().seen->id)) lately_.add(now);
  ++adopted_;
}

StrangeList Strangers::end() {
  doubted_since_.reset();
  adopted_ = 0;
  return std::exchange(list_, {});
}

}  // namespace hostler::dispatch
