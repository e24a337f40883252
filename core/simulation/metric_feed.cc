#include "core/simulation/metric_feed.h"

#include <algorithm>
#include <utility>

#include "core/config/expressions.h"
#include "core/sources/zones.h"

namespace hostler::simulation {
namespace {

std::optional<double> value_at(const std::vector<MetricPoint>& points, Duration at) {
  const auto next = std::ranges::upper_bound(points, at, {}, &MetricPoint::at);
  return next == points.begin() ? std::nullopt : std::prev(next)->value;
}

}  // namespace

model::MetricReading reading_at(const model::MetricPolicy& metric, const MetricSeries& series,
                                Duration at, Wall now) {
  model::MetricReading out{.metric = metric.name, .samples = {}, .failure = {}};
  for (const auto& [key, points] : series)
    if (const auto value = value_at(points, at)) out.samples.push_back({key, *value, now});
  if (out.samples.empty()) out.failure = "the scenario has no value at this time";
  return out;
}

Result<void> MetricFeed::begin() {
  dispatch::ZonesRead read;
  for (const std::string& zone : config::needs_of(policy_).zones)
    read.zones.push_back(HOSTLER_TRY(
        sources::zone_times(zone, scenario_.starts, scenario_.starts + scenario_.lasts)));
  if (!read.zones.empty()) post_(std::move(read));
  for (const model::MetricPolicy& metric : policy_.metrics)
    if (!metric.own) this->read(metric, time_.now());
  return {};
}

void MetricFeed::read(const model::MetricPolicy& metric, Mono start) {
  const Duration at = time_.now() - start;
  time_.after(metric.interval, [this, &metric, start] { read(metric, start); });
  post_(dispatch::MetricsRead{
      {reading_at(metric, scenario_.metrics.at(metric.name), at, scenario_.starts + at)}});
}

}  // namespace hostler::simulation
