#include "core/scheduler/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/units.h"

namespace hostler::scheduler {
namespace {

using model::ScalingRate;
using model::ScalingRules;

/// A bound that changes at each reading fills no memory.
constexpr std::size_t kEntriesMax = 4096;
/// Bounds are decided every 10 s. A longer time between two decisions is a stall; a window that is
/// shorter than the usual time does not end in one.
constexpr Duration kStallMin = std::chrono::seconds(30);

std::string ago(Duration time) {
  return exact_duration(time - time % std::chrono::seconds(1)) + " ago";
}

std::string text_of(const ScalingRate& rate) {
  return std::to_string(rate.value) +
         (rate.is_percent   ? "%"
          : rate.value == 1 ? " host"
                            : " hosts") +
         " per " + exact_duration(rate.per);
}

/// `wanted`, or `current` if it is near enough.
std::int64_t tolerated(std::int64_t wanted, std::int64_t current, const ScalingRules& rules,
                       std::vector<std::string>& changes) {
  const auto distance = static_cast<double>(std::abs(wanted - current));
  if (wanted == current || distance > rules.tolerance * static_cast<double>(current)) return wanted;
  std::string tolerance = std::to_string(rules.tolerance);
  tolerance.erase(tolerance.find_last_not_of('0') + 1);
  changes.push_back("tolerance of " + tolerance + ": " + std::to_string(wanted) + " is near " +
                    std::to_string(current));
  return current;
}

/// A percentage is rounded away from the number, and one host is always possible.
std::int64_t furthest(std::int64_t from, const ScalingRate& rate, bool is_up) {
  const std::int64_t value = rate.value;
  if (is_up)
    return std::max(from + 1, rate.is_percent ? (from * (100 + value) + 99) / 100 : from + value);
  const std::int64_t left = rate.is_percent
                                ? from * (100 - std::min<std::int64_t>(value, 100)) / 100
                                : std::max<std::int64_t>(0, from - value);
  return std::min(std::max<std::int64_t>(0, from - 1), left);
}

Duration longest_time(const model::ScalingPolicy& policy) {
  Duration out{};
  for (const auto* rules : {&policy.up, &policy.down})
    for (const ScalingRate& rate : rules->policies) out = std::max(out, rate.per);
  return out;
}

/// Adds a recommendation, and drops those of which it takes the place and those that are too old.
/// `reaches`: the new number stands for the old one.
template <class Entries, class Reaches>
void remember_in(Entries& entries, std::int64_t number, Duration window, Mono now,
                 Reaches reaches) {
  while (!entries.empty() && reaches(number, entries.back().number)) entries.pop_back();
  entries.push_back({now, number});
  while (!entries.empty() && entries.front().at <= now - window) entries.pop_front();
  if (entries.size() <= kEntriesMax) return;
  entries[1].number = entries[0].number;
  entries.pop_front();
}

}  // namespace

/// The furthest number that the policies allow now, and why.
struct BoundScaling::Limit {
  std::int64_t number = 0, from = 0;
  const ScalingRate* rate = nullptr;
};

BoundScaling::Decision BoundScaling::decide(std::int64_t recommended, std::int64_t present,
                                            const model::ScalingPolicy& policy, Mono now) {
  if (!current_)
    begin_at(present, policy, now);
  else if (now - at_ > std::max(policy.down.window, kStallMin))
    remember_in(largest_, *current_, policy.down.window, now, std::greater_equal<>());
  is_on_hold_ = false;
  Decision out;
  const ScalingRules& rules = recommended > *current_ ? policy.up : policy.down;
  const std::int64_t wanted = tolerated(recommended, *current_, rules, out.changes);
  const std::int64_t stable = stabilised(wanted, policy, now, out);
  remember(wanted, policy, now);
  out.number = within_policies(stable, policy, now, out);
  settle(out.number, policy, now);
  return out;
}

void BoundScaling::hold(const model::ScalingPolicy& policy, Mono now) {
  if (!current_) return;
  remember(*current_, policy, now);
  is_on_hold_ = true;
}

void BoundScaling::end_hold(std::int64_t least, const model::ScalingPolicy& policy, Mono now) {
  if (is_on_hold_ && least > *current_) begin_at(least, policy, now);
  is_on_hold_ = false;
}

void BoundScaling::begin_at(std::int64_t number, const model::ScalingPolicy& policy, Mono now) {
  decided_.clear();
  settle(number, policy, now);
  remember(number, policy, now);
}

void BoundScaling::remember(std::int64_t recommended, const model::ScalingPolicy& policy,
                            Mono now) {
  remember_in(largest_, recommended, policy.down.window, now, std::greater_equal<>());
  remember_in(smallest_, recommended, policy.up.window, now, std::less_equal<>());
  recommended_ = recommended;
  at_ = now;
}

void BoundScaling::settle(std::int64_t number, const model::ScalingPolicy& policy, Mono now) {
  current_ = number;
  if (decided_.empty() || decided_.back().number != number) decided_.push_back({now, number});
  const Mono begin = now - longest_time(policy);
  while (decided_.size() > 1 && (decided_[1].at <= begin || decided_.size() > kEntriesMax))
    decided_.pop_front();
}

std::int64_t BoundScaling::stabilised(std::int64_t recommended, const model::ScalingPolicy& policy,
                                      Mono now, Decision& out) const {
  const auto within = [&](const Entries& entries, Duration window) {
    return std::ranges::find_if(entries, [&](const Entry& e) { return e.at > now - window; });
  };
  const bool is_up = recommended > *current_;
  const Entries& entries = is_up ? smallest_ : largest_;
  const Duration window = is_up ? policy.up.window : policy.down.window;
  const auto found = within(entries, window);
  if (recommended == *current_ || found == entries.end()) return recommended;
  // The number of the past, if that is nearer to the current one; no change, if it is beyond.
  const std::int64_t number = is_up ? std::min(recommended, std::max(*current_, found->number))
                                    : std::max(recommended, std::min(*current_, found->number));
  if (number != recommended)
    out.changes.push_back((is_up ? "up window of " : "down window of ") + exact_duration(window) +
                          ": " + std::to_string(found->number) + " was wanted " +
                          ago(now - found->at));
  return number;
}

std::int64_t BoundScaling::within_policies(std::int64_t wanted, const model::ScalingPolicy& policy,
                                           Mono now, Decision& out) const {
  const std::int64_t current = *current_;
  const bool is_up = wanted > current;
  const auto& rates = is_up ? policy.up.policies : policy.down.policies;
  if (wanted == current || rates.empty()) return wanted;
  const auto is_further = [&](std::int64_t a, std::int64_t b) { return is_up ? a > b : a < b; };
  const auto limit_of = [&](const ScalingRate& rate) {
    const std::int64_t from = number_at(now - rate.per);
    return Limit{.number = furthest(from, rate, is_up), .from = from, .rate = &rate};
  };
  Limit limit = limit_of(rates.front());
  for (const ScalingRate& rate : rates)
    if (const Limit other = limit_of(rate); is_further(other.number, limit.number)) limit = other;
  if (is_further(current, limit.number)) limit.number = current;
  if (!is_further(wanted, limit.number)) return wanted;
  out.changes.push_back(std::string(is_up ? "up" : "down") +
                        " policies: " + std::to_string(limit.number) + " in place of " +
                        std::to_string(wanted) + ", as " + text_of(*limit.rate) +
                        " are allowed from " + std::to_string(limit.from));
  return limit.number;
}

std::int64_t BoundScaling::number_at(Mono when) const {
  std::int64_t number = decided_.front().number;
  for (const Entry& entry : decided_)
    if (entry.at <= when) number = entry.number;
  return number;
}

std::optional<Mono> BoundScaling::due(const model::ScalingPolicy& policy) const {
  if (!current_ || recommended_ == *current_) return std::nullopt;
  const bool is_up = recommended_ > *current_;
  const ScalingRules& rules = is_up ? policy.up : policy.down;
  std::optional<Mono> out;
  const auto consider = [&](Mono when) {
    if (when > at_ && (!out || when < *out)) out = when;
  };
  for (const Entry& entry : is_up ? smallest_ : largest_) consider(entry.at + rules.window);
  for (const ScalingRate& rate : rules.policies)
    for (std::size_t i = 1; i < decided_.size(); ++i) consider(decided_[i].at + rate.per);
  return out;
}

}  // namespace hostler::scheduler
