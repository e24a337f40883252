#pragma once

#include <optional>

#include "core/base/time.h"
#include "core/model/metric.h"

namespace hostler::sources {

/// Reads one metric now, as the Collector does. Blocks, at most for its timeout and a moment. `at`:
/// as of this time; kPrometheus alone has a past, the others fail. kHostler fails: only the daemon
/// can count.
[[nodiscard]] model::MetricReading read_once(const model::MetricSource& source,
                                             std::optional<Wall> at);

}  // namespace hostler::sources
