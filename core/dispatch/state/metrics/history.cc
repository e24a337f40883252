#include "core/dispatch/state/metrics/history.h"

#include <algorithm>

namespace hostler::dispatch {

void History::add(Mono at, double value, Duration keep, std::size_t entries,
                  HistoryBudget& budget) {
  if (keep == Duration::zero()) return clear(budget);
  if (!entries_.empty() && at < entries_.back().at) return;
  // One that is older than the window stays: it shows that the window is covered.
  std::size_t old = 0;
  while (entries_.size() - old > 1 && entries_[old + 1].at <= at - keep) ++old;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(old));
  budget.freed(old);
  const Duration together = keep / static_cast<std::int64_t>(entries);
  if (!entries_.empty() && at < entries_.back().at + together) {
    Entry& last = entries_.back();
    last.sum += value;
    last.largest = std::max(last.largest, value);
    ++last.count;
    return;
  }
  if (budget.is_full()) {
    if (entries_.empty()) return;
    entries_.pop_front();
    budget.freed(1);
  }
  entries_.push_back({.at = at, .sum = value, .largest = value, .count = 1});
  budget.took();
}

void History::clear(HistoryBudget& budget) {
  budget.freed(entries_.size());
  entries_.clear();
}

std::optional<std::size_t> History::begin(Mono now, Duration window, Duration slack) const {
  const Mono from = now - window;
  if (entries_.empty() || entries_.front().at > from + slack) return std::nullopt;
  const auto first = std::ranges::upper_bound(entries_, from, {}, &Entry::at);
  if (first == entries_.end()) return std::nullopt;
  return static_cast<std::size_t>(first - entries_.begin());
}

std::optional<double> History::average(Mono now, Duration window, Duration slack) const {
  const auto first = begin(now, window, slack);
  if (!first) return std::nullopt;
  double sum = 0;
  std::uint64_t count = 0;
  for (std::size_t i = *first; i < entries_.size(); ++i) {
    sum += entries_[i].sum;
    count += entries_[i].count;
  }
  return sum / static_cast<double>(count);
}

std::optional<double> History::largest(Mono now, Duration window, Duration slack) const {
  const auto first = begin(now, window, slack);
  if (!first) return std::nullopt;
  double out = entries_[*first].largest;
  for (std::size_t i = *first; i < entries_.size(); ++i) out = std::max(out, entries_[i].largest);
  return out;
}

Duration History::reach(Mono now) const {
  return entries_.empty() ? Duration::zero() : now - entries_.front().at;
}

}  // namespace hostler::dispatch
