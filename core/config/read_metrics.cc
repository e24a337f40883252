#include <algorithm>

#include "core/base/units.h"
#include "core/config/readers.h"
#include "core/expression/expression.h"

namespace hostler::config {
namespace {

constexpr std::size_t kMetricsMax = 200;
constexpr double kNumberMax = 1e15;
constexpr Duration kOldest = 24h * 7;

bool read_metric_name(const json::Field& field, std::string& out) {
  std::string name;
  if (!field.text(name, {.bytes_max = kMetricNameMax, .bytes_min = 1, .one_line = true}))
    return false;
  if (!is_identifier(name))
    return field.refuse("a name of letters, digits and _, which begins with no digit");
  if (expression::is_taken(name))
    return field.problem("found \"" + name +
                         "\", which is a word of the language of expressions; choose another name");
  out = std::move(name);
  return true;
}

bool read_limit(const json::Field& field, std::optional<double>& out) {
  double number = 0;
  if (!field.number(number, -kNumberMax, kNumberMax)) return false;
  out = number;
  return true;
}

void read_valid(const json::Field& field, model::MetricPolicy& out) {
  field.object([&](json::Object& o) {
    const json::Field min = o.may("min"), max = o.may("max");
    read_limit(min, out.valid_min);
    read_limit(max, out.valid_max);
    if (!min.present() && !max.present()) field.problem("found no key, allowed: min, max");
    if (out.valid_min && out.valid_max && *out.valid_min > *out.valid_max)
      min.problem("min is above max, so that no value would be valid");
  });
}

void read_max_step(const json::Field& field, std::optional<double>& out) {
  double number = 0;
  if (!field.number(number, 0, kNumberMax)) return;
  if (number > 0)
    out = number;
  else
    field.refuse("a number above 0; leave the key out where any step is good");
}

void read_on_failure(const json::Field& field, model::MetricPolicy& out) {
  if (!field.present()) return;
  if (field.value()->is(json::Kind::kString) && field.value()->text() == "hold") {
    out.on_failure = model::OnFailure::kHold;
    return;
  }
  if (!field.value()->is(json::Kind::kObject)) {
    field.refuse("\"hold\", {\"last\": \"5m\"} or {\"value\": 0}");
    return;
  }
  field.object([&](json::Object& o) {
    const std::string_view choice = o.exactly_one({"last", "value"});
    if (choice == "last") {
      out.on_failure = model::OnFailure::kLast;
      o.may(choice).duration(out.last_for, 1s, kOldest);
    } else if (choice == "value") {
      out.on_failure = model::OnFailure::kValue;
      o.may(choice).number(out.value, -kNumberMax, kNumberMax);
    }
  });
}

/// Readings of one metric follow each other.
void read_times(json::Object& o, model::MetricPolicy& policy, model::MetricSource& source) {
  o.may("interval").duration(policy.interval, 1s, 1h);
  source.interval = policy.interval;
  source.timeout = std::min<Duration>(source.timeout, policy.interval);
  const json::Field timeout = o.may("timeout");
  if (timeout.duration(source.timeout, 100ms, 10min) && source.timeout > source.interval)
    timeout.problem("found " + exact_duration(source.timeout) + ", which is above the interval " +
                    exact_duration(source.interval));
}

/// Why samples of the source have no age; empty: they have one.
std::string is_ageless(model::MetricSource::Kind kind) {
  using From = model::MetricSource::Kind;
  if (kind == From::kHttp || kind == From::kExec)
    return "what is read by http or exec says no time of its own: it is as old as its reading";
  if (kind == From::kHostler) return "hostler's own counts are those of now";
  return {};
}

void read_max_age(const json::Field& field, model::MetricPolicy& policy,
                  const model::MetricSource& source) {
  if (!field.duration(policy.max_age, 1s, kOldest)) return;
  const std::string ageless = is_ageless(source.kind);
  if (!ageless.empty())
    field.problem("it has no effect here, since " + ageless + "; remove it");
  else if (policy.max_age < policy.interval)
    field.problem("found " + exact_duration(policy.max_age) + ", which is below the interval " +
                  exact_duration(policy.interval) +
                  ": the metric would be unknown before it is read again");
}

}  // namespace

void read_metrics(const json::Field& field, const Context& context, Config& out) {
  std::set<std::string> names;
  field.each(kMetricsMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      model::MetricPolicy& policy = out.site.metrics.emplace_back();
      model::MetricSource& source = out.metric_sources.emplace_back();
      const json::Field name = o.need("name");
      if (read_metric_name(name, policy.name)) claim_name(name, policy.name, names);
      read_times(o, policy, source);
      read_metric_source(o.need("source"), context, out.site, source);
      read_valid(o.may("valid"), policy);
      read_max_step(o.may("max_step"), policy.max_step);
      read_max_age(o.may("max_age"), policy, source);
      read_on_failure(o.may("on_failure"), policy);
      source.name = policy.name;
      source.asks_age = policy.max_age > Duration{};
      policy.by = source.by;
      policy.source = source_id(source);
      if (source.kind == model::MetricSource::Kind::kHostler) policy.own = source.own;
    });
  });
}

}  // namespace hostler::config
