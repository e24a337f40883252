#include "core/dispatch/state/metrics/history.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace hostler::dispatch {
namespace {

/// Readings come some moments early or late, so half an interval is added to three.
Duration gap_max(Duration interval) { return interval * 3 + interval / 2; }

}  // namespace

void History::add(Mono at, double value, const Rules& rules, HistoryBudget& budget) {
  if (rules.keep == Duration::zero()) return clear(budget);
  if (!entries_.empty() && at < entries_.back().ends()) return;
  // One that is older than the window stays: it shows that the window is covered.
  std::size_t old = 0;
  while (entries_.size() - old > 1 && entries_[old + 1].at <= at - rules.keep) ++old;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(old));
  budget.freed(old);
  const Duration together = rules.keep / static_cast<std::int64_t>(rules.entries);
  if (!entries_.empty() && at < entries_.back().at + together)
    return add_to_last(at, value, rules.interval);
  if (budget.is_full()) {
    if (entries_.empty()) return;
    entries_.pop_front();
    budget.freed(1);
  }
  entries_.push_back({.at = at, .sum = value, .largest = value, .count = 1});
  budget.took();
}

void History::add_to_last(Mono at, double value, Duration interval) {
  Entry& last = entries_.back();
  if (at - last.ends() > gap_max(interval)) last.has_gap = 1;
  last.sum += value;
  last.largest = std::max(last.largest, value);
  ++last.count;
  const auto lasts = std::chrono::duration_cast<std::chrono::milliseconds>(at - last.at).count();
  last.lasts_ms = static_cast<std::uint32_t>(lasts) & 0x7fff'ffffU;  // Below `together`.
}

void History::clear(HistoryBudget& budget) {
  budget.freed(entries_.size());
  entries_.clear();
}

void History::remove_outside(std::optional<double> min, std::optional<double> max,
                             HistoryBudget& budget) {
  budget.freed(std::erase_if(entries_, [&](const Entry& one) {
    return (max && one.largest > *max) || (min && one.sum < *min * one.count);
  }));
}

std::optional<std::size_t> History::begin(Mono now, Duration window, Duration interval) const {
  const Mono from = now - window;
  const auto first = std::ranges::upper_bound(entries_, from, {}, &Entry::at);
  if (first == entries_.end()) return std::nullopt;
  const auto has_gap = [&](const Entry& one, Mono next) {
    return next - one.ends() > gap_max(interval);
  };
  const bool goes_on = first != entries_.begin() && !has_gap(*std::prev(first), first->at);
  if (first->at > from + interval && !goes_on) return std::nullopt;
  for (auto at = first; at != entries_.end(); ++at) {
    const Mono next = std::next(at) == entries_.end() ? now : std::next(at)->at;
    if (at->has_gap != 0 || has_gap(*at, next)) return std::nullopt;
  }
  return static_cast<std::size_t>(first - entries_.begin());
}

std::optional<double> History::average(Mono now, Duration window, Duration interval) const {
  const auto first = begin(now, window, interval);
  if (!first) return std::nullopt;
  double sum = 0;
  std::uint64_t count = 0;
  for (std::size_t i = *first; i < entries_.size(); ++i) {
    sum += entries_[i].sum;
    count += entries_[i].count;
  }
  return sum / static_cast<double>(count);
}

std::optional<double> History::largest(Mono now, Duration window, Duration interval) const {
  const auto first = begin(now, window, interval);
  if (!first) return std::nullopt;
  double out = entries_[*first].largest;
  for (std::size_t i = *first; i < entries_.size(); ++i) out = std::max(out, entries_[i].largest);
  return out;
}

Duration History::reach(Mono now) const {
  return entries_.empty() ? Duration::zero() : now - entries_.front().at;
}

}  // namespace hostler::dispatch
