#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/model/metric.h"

/// Reads metrics from outside: Prometheus, HTTP, files, programs.
namespace hostler::sources {

/// Reads each metric at its interval, all at the same time: one that hangs delays no other. The
/// first time at once. A reading that takes longer than its interval leaves out what it missed.
class Collector {
 public:
  /// `read` is called on the thread of the collector, once for each reading. It must not block, nor
  /// call set_sources().
  explicit Collector(std::function<void(model::MetricReading)> read);
  ~Collector();  ///< Ends what runs. Blocks for moments.
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Replaces all sources; those that are equal go on. Nothing is reported of the others any more
  /// when this returns. kHostler is left out: the loop counts. Names are unique and intervals
  /// positive. Any thread; waits for a `read` that runs, and for nothing else.
  void set_sources(std::vector<model::MetricSource> sources);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hostler::sources
