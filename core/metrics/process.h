#pragma once

#include <prometheus/metric_family.h>

#include <vector>

/// Private to core/metrics.
namespace hostler::metrics {

/// Metrics of this process from the kernel, with the names that the client libraries of Prometheus
/// use. Leaves out values that cannot be read. Reads a few files of /proc. Any thread.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_families();

}  // namespace hostler::metrics
