#include "core/simulation/read_metrics.h"

#include <cstdint>

#include "core/base/units.h"

namespace hostler::simulation {
namespace {

constexpr std::size_t kMetricsMax = 1000, kKeysMax = 1000, kPointsMax = 100'000;
constexpr double kValueMax = 1e15;

void read_value(const json::Field& field, std::optional<double>& out) {
  if (!field.present() || field.value()->is(json::Kind::kNull)) return;
  double value = 0;
  if (field.number(value, -kValueMax, kValueMax)) out = value;
}

/// [AT, VALUE]
void read_point(const json::Field& field, std::vector<MetricPoint>& out) {
  if (!field.value()->is(json::Kind::kArray) || field.value()->size() != 2) {
    field.refuse("a time since the start and a value, such as [\"10m\", 5] or [\"10m\", null]");
    return;
  }
  MetricPoint point;
  bool is_time = true;
  field.each(2, [&](const json::Field& part) {
    if (!is_time) return read_value(part, point.value);
    is_time = false;
    if (part.duration(point.at, Duration::zero(), kLastsMax) && !out.empty() &&
        point.at <= out.back().at)
      part.refuse("a time after \"" + exact_duration(out.back().at) +
                  "\", that of the value before");
  });
  out.push_back(point);
}

void read_equal_steps(json::Object& o, std::vector<MetricPoint>& out) {
  Duration every{};
  o.need("every").duration(every, 1ms, kLastsMax);
  const json::Field values = o.need("values");
  values.each(kPointsMax, [&](const json::Field& value) {
    MetricPoint& point = out.emplace_back();
    point.at = every * static_cast<std::int64_t>(out.size() - 1);
    read_value(value, point.value);
  });
}

void read_points(const json::Field& field, std::vector<MetricPoint>& out) {
  if (field.value()->is(json::Kind::kArray))
    field.each(kPointsMax, [&](const json::Field& point) { read_point(point, out); });
  else
    field.object([&](json::Object& o) { read_equal_steps(o, out); });
  if (out.empty() && field.value()->size() == 0)
    field.problem("found no value, allowed: one or more");
}

void read_series(const json::Field& field, MetricSeries& out) {
  if (!field.value()->has("by")) return read_points(field, out[""]);
  field.object([&](json::Object& o) {
    o.may("by").members(kKeysMax, [&](std::string_view key, const json::Field& points) {
      read_points(points, out[std::string(key)]);
    });
  });
}

}  // namespace

void read_metrics(const json::Field& field, std::map<std::string, MetricSeries>& out) {
  field.members(kMetricsMax, [&](std::string_view name, const json::Field& series) {
    read_series(series, out[std::string(name)]);
  });
}

}  // namespace hostler::simulation
