#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/base/time.h"

namespace hostler::dispatch {

/// How many samples all series keep together, of those that count for averages: 64 MiB.
class HistoryBudget {
 public:
  static constexpr std::size_t kEntriesMax = std::size_t{64} * 1024 * 1024 / 32;
  [[nodiscard]] bool is_full() const { return used_ >= kEntriesMax; }
  void took() { ++used_; }
  void freed(std::size_t count) { used_ -= count; }

 private:
  std::size_t used_ = 0;
};

/// The good samples of one series within the longest time that an expression asks about, oldest
/// first. Samples that are close together are kept as one entry, so no more than kEntriesMax are
/// kept of any length of time. Its owner calls clear() before it ends.
class History {
 public:
  static constexpr std::size_t kEntriesMax = 10'000;

  /// `keep`: the longest time that is asked about; 0: nothing is kept. `at` does not go back; what
  /// is older than the last one is left out. `entries`: at most so many are to cover `keep`.
  void add(Mono at, double value, Duration keep, std::size_t entries, HistoryBudget& budget);
  void clear(HistoryBudget& budget);

  /// Over the samples of the last `window`; unset if these do not cover it: the first one is more
  /// than `slack` younger than the window, or there is none.
  [[nodiscard]] std::optional<double> average(Mono now, Duration window, Duration slack) const;
  [[nodiscard]] std::optional<double> largest(Mono now, Duration window, Duration slack) const;
  /// How long before now the oldest sample is; 0: there is none.
  [[nodiscard]] Duration reach(Mono now) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Mono at;  ///< Of the first of its samples.
    double sum = 0, largest = 0;
    std::uint32_t count = 0;
  };
  static_assert(sizeof(Entry) == 32, "HistoryBudget counts with this");
  /// Where the window begins; unset: it is not covered.
  [[nodiscard]] std::optional<std::size_t> begin(Mono now, Duration window, Duration slack) const;

  std::deque<Entry> entries_;
};

}  // namespace hostler::dispatch
