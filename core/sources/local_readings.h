#pragma once

#include <functional>
#include <memory>

#include "core/model/metric.h"
#include "core/sources/schedule.h"

namespace hostler::sources {

/// Readings of files and programs, each on a thread of its own, 64 at once; others wait for their
/// turn.
///
/// A file system that hangs holds its thread, and nothing can end that: such a thread is left
/// alone, and what it reads at last is dropped.
class LocalReadings {
 public:
  /// `ended` is called on these threads, several at once.
  explicit LocalReadings(std::function<void(ReadingId, model::MetricReading)> ended);
  /// Ends programs; afterwards `ended` is not called. Blocks for moments.
  ~LocalReadings();
  LocalReadings(const LocalReadings&) = delete;
  LocalReadings& operator=(const LocalReadings&) = delete;

  /// Begins a reading of kFile or kExec. Any thread; never blocks.
  void start(ReadingId id, const model::MetricSource& source);
  /// Ends a program; `ended` is still called for it. True: the reading waited for its turn, and is
  /// forgotten: `ended` will not be called.
  bool cancel(ReadingId id);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace hostler::sources
