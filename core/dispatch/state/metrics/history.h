#pragma once

#include <chrono>
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

  struct Rules {
    Duration keep{};          ///< The longest time that is asked about; 0: nothing is kept.
    Duration interval{};      ///< Of the readings.
    std::size_t entries = 0;  ///< At most so many are to cover `keep`.
  };
  /// `at` does not go back; what is older than the last one is left out.
  void add(Mono at, double value, const Rules& rules, HistoryBudget& budget);
  void clear(HistoryBudget& budget);
  /// Removes what these limits do not allow; of samples that are one entry, by their largest and
  /// their average. Unset: without such a limit.
  void remove_outside(std::optional<double> min, std::optional<double> max, HistoryBudget& budget);

  /// Over the samples of the last `window`. Unset if these do not cover it: they begin later than
  /// an `interval` after the window does, or there is a time of more than three intervals without
  /// one.
  [[nodiscard]] std::optional<double> average(Mono now, Duration window, Duration interval) const;
  [[nodiscard]] std::optional<double> largest(Mono now, Duration window, Duration interval) const;
  /// How long before now the oldest sample is; 0: there is none.
  [[nodiscard]] Duration reach(Mono now) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Mono at;  ///< Of the first of its samples.
    double sum = 0, largest = 0;
    std::uint32_t count = 0;
    std::uint32_t lasts_ms : 31 = 0;  ///< The last of its samples came so much after the first.
    std::uint32_t has_gap : 1 = 0;    ///< A time between two of its samples was too long.
    [[nodiscard]] Mono ends() const { return at + std::chrono::milliseconds(lasts_ms); }
  };
  static_assert(sizeof(Entry) == 32, "HistoryBudget counts with this");
  /// Where the window begins; unset: it is not covered.
  [[nodiscard]] std::optional<std::size_t> begin(Mono now, Duration window,
                                                 Duration interval) const;
  void add_to_last(Mono at, double value, Duration interval);

  std::deque<Entry> entries_;
};

}  // namespace hostler::dispatch
