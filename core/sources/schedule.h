#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/metric.h"

namespace hostler::sources {

/// One reading of one metric; never used twice.
using ReadingId = std::uint64_t;

struct Started {
  ReadingId id = 0;
  model::MetricSource source;
};

/// Decides which source is read when. Pure: the present time is an argument.
///
/// A source is read at once, and then at multiples of its interval after that. It is not read again
/// while a reading of it runs: one that takes longer leaves multiples out.
class Schedule {
 public:
  /// Replaces all sources. Those that are equal go on as if nothing had happened. Returns the
  /// readings of the others that still run: nobody waits for them any more.
  std::vector<ReadingId> replace(std::vector<model::MetricSource> sources, Mono now);

  /// The readings that begin now.
  std::vector<Started> take_due(Mono now);
  /// Readings that have neither ended in their time nor a moment later; each is returned once. Its
  /// source is not read again before end() is called for it, since what it waits for may hold it
  /// for ever.
  std::vector<Started> take_overdue(Mono now);
  /// A reading has ended, or was dropped before its end. False: nobody waits for what it read.
  [[nodiscard]] bool end(ReadingId id, Mono now);

  /// When take_due() or take_overdue() has something to return; nullopt: only after another call.
  [[nodiscard]] std::optional<Mono> next() const;

 private:
  struct Entry {
    model::MetricSource source;
    Mono due;                               ///< Of the reading that runs, or of the next one.
    Mono deadline;                          ///< Of the reading that runs.
    std::optional<ReadingId> reading = {};  ///< The one that runs.
    bool is_overdue = false;                ///< It was returned by take_overdue().
  };

  std::vector<Entry> entries_;
  ReadingId last_ = 0;
};

}  // namespace hostler::sources
