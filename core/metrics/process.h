#pragma once

#include <prometheus/metric_family.h>

#include <vector>

/// Inside metrics.
namespace hostler::metrics {

/// What the kernel says about this process, by the names that Prometheus' own clients use. What
/// cannot be read is left out. Reads a few files of /proc. Any thread.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_families();

}  // namespace hostler::metrics
