#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/metrics/metrics.h"

namespace hostler::dispatch {

using namespace std::chrono_literals;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline model::MetricPolicy rps() {
  model::MetricPolicy out;
  out.name = "rps";
  out.interval = 10s;
  return out;
}

/// One metric, "rps", that is read each 10 s.
class MetricsTest : public testing::Test {
 protected:
  explicit MetricsTest(model::MetricPolicy policy = rps()) { configure(std::move(policy)); }

  void configure(model::MetricPolicy policy, Duration window = {}) {
    metrics.configure({std::move(policy)}, {{"rps", window}}, now);
  }
  void read(double value) { read({{.key = {}, .value = value, .taken = now.wall}}); }
  void read(std::vector<model::MetricSample> samples) {
    metrics.take(model::MetricReading{"rps", std::move(samples), {}, source}, now);
  }
  void fail(const std::string& why) { metrics.take(model::MetricReading{"rps", {}, why}, now); }
  void pass(Duration time) {
    now.mono += time;
    now.wall = now.wall + time;
  }
  MetricValue value(const std::string& key = {}) const { return metrics.value("rps", key, now); }
  MetricFlaw flaw(const std::string& key = {}) const { return value(key).judgement.flaw; }
  std::optional<double> average(Duration window) const {
    return metrics.over("rps", {}, Metrics::Over::kAverage, window, now.mono).first;
  }

  /// Before this start, so long ago.
  void was(std::vector<std::pair<Duration, double>> values, const std::string& key = {}) {
    model::MetricPast past{"rps", {}, source};
    for (const auto& [age, value] : values)
      past.samples.push_back({.key = key, .value = value, .taken = now.wall + -age});
    metrics.take(past, now);
  }

  std::uint64_t source = 0;  ///< Of what is read.
  Metrics metrics;
  Now now{Mono(100h), Wall{1'700'000'000'000'000}};
};

}  // namespace hostler::dispatch
