#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/model/metric.h"

/// Reads metrics from outside: Prometheus, HTTP, files, programs. Time zones of the system, too.
namespace hostler::sources {

/// Reads each metric at its interval, all beside each other: one that hangs delays no other. The
/// first time at once.
class Collector {
 public:
  /// `read` is called on a thread of the collector, once for each reading, and must not block.
  explicit Collector(std::function<void(model::MetricReading)> read);
  ~Collector();  ///< Ends what runs. Blocks for moments.
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Replaces all sources; those that are equal go on. kHostler is left out: the loop counts.
  /// Any thread; never blocks.
  void set_sources(std::vector<model::MetricSource> sources);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Reads one metric now. Blocks, at most for its timeout and a moment. `at`: as of this time;
/// kPrometheus alone has a past, the others fail.
[[nodiscard]] model::MetricReading read_once(const model::MetricSource& source,
                                             std::optional<Wall> at);

/// kNotFound if the system does not have the zone.
[[nodiscard]] Result<void> check_zone(std::string_view zone);
/// The offsets of a zone from `from` on until `until`. Blocks to read the system's time zones.
[[nodiscard]] Result<model::ZoneTimes> zone_times(const std::string& zone, Wall from, Wall until);

}  // namespace hostler::sources
