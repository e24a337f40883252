#include "core/dispatch/state/metrics/metrics.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

/// A series that readings have not had for so long is forgotten.
constexpr Duration kAbsentKept = std::chrono::hours(1);

/// Each series keeps its part: with a label there may be many.
History::Rules rules_of(const model::MetricPolicy& policy, Duration keep) {
  return {.keep = keep,
          .interval = policy.interval,
          .entries = policy.by.empty() ? History::kEntriesMax
                                       : std::max<std::size_t>(
                                             1, HistoryBudget::kEntriesMax / Metrics::kKeysMax)};
}

bool has_same_source(const model::MetricPolicy& a, const model::MetricPolicy& b) {
  return a.by == b.by && a.own == b.own && a.source == b.source;
}

/// A reading that does not say its source is of the one that the metric has.
bool is_of(std::uint64_t source, const model::MetricPolicy& policy) {
  return source == 0 || source == policy.source;
}

/// Of its series; unset: it has none.
std::optional<std::string> key_of(const model::MetricSample& sample,
                                  const model::MetricPolicy& policy) {
  if (policy.by.empty()) return std::string();
  if (sample.key.empty() || sample.key.size() > model::kForeignNameMax) return std::nullopt;
  return sample.key;
}

/// Why the samples of a reading cannot be used; empty: they can.
std::string flaw_of(const model::MetricPolicy& policy,
                    const std::vector<model::MetricSample>& samples) {
  if (policy.by.empty())
    return samples.size() == 1 ? ""
                               : "it has " + std::to_string(samples.size()) + " values, not one";
  if (samples.size() > Metrics::kKeysMax)
    return "it has " + std::to_string(samples.size()) + " values, at most " +
           std::to_string(Metrics::kKeysMax) + " are allowed";
  std::set<std::string_view> keys;
  for (const auto& sample : samples)
    if (!keys.insert(sample.key).second)
      return "it has two values for '" + printable(sample.key, 60) + "'";
  return "";
}

}  // namespace

void Metrics::configure(const std::vector<model::MetricPolicy>& metrics,
                        const std::map<std::string, Duration>& windows, Now now) {
  std::map<std::string, Metric, std::less<>> kept;
  for (const auto& policy : metrics) {
    Metric metric;
    const auto known = metrics_.find(policy.name);
    const bool is_same = known != metrics_.end() && has_same_source(known->second.policy, policy);
    if (is_same) metric = std::move(metrics_.extract(known).mapped());
    if (!is_same) metric.since = now.mono;
    metric.policy = policy;
    judge_again(metric, now.wall);
    const auto window = windows.find(policy.name);
    metric.keep = window == windows.end() ? Duration::zero() : window->second;
    kept.emplace(policy.name, std::move(metric));
  }
  for (auto& [name, gone] : metrics_) forget(gone);
  metrics_ = std::move(kept);
}

void Metrics::forget(Metric& metric) {
  for (auto& [key, series] : metric.series) series.history.clear(budget_);
}

void Metrics::judge_again(Metric& metric, Wall now) {
  const auto& policy = metric.policy;
  for (auto& [key, series] : metric.series) {
    series.judge_again(policy, now);
    series.history.remove_outside(policy.valid_min, policy.valid_max, budget_);
  }
}

void Metrics::take(const model::MetricReading& reading, Now now) {
  const auto found = metrics_.find(reading.metric);
  if (found == metrics_.end() || !is_of(reading.source, found->second.policy)) return;
  Metric& metric = found->second;
  metric.ended = now.mono;
  metric.failure =
      reading.failure.empty() ? flaw_of(metric.policy, reading.samples) : reading.failure;
  MetricFlaw outcome = MetricFlaw::kFailed;
  if (metric.failure.empty()) outcome = take_samples(metric, reading.samples, now);
  ++outcomes_[{reading.metric, to_string(outcome)}];
}

MetricFlaw Metrics::take_samples(Metric& metric, const std::vector<model::MetricSample>& samples,
                                 Now now) {
  MetricFlaw out = MetricFlaw::kNone;
  const auto rules = rules_of(metric.policy, metric.keep);
  ++metric.readings;
  for (const auto& sample : samples) {
    const auto key = key_of(sample, metric.policy);
    if (!key) continue;
    Series& series = metric.series[*key];
    const MetricFlaw flaw = series.take(sample, metric.readings, metric.policy, now);
    if (flaw == MetricFlaw::kNone)
      series.history.add(now.mono, sample.value, rules, budget_);
    else if (out == MetricFlaw::kNone)
      out = flaw;
  }
  forget_absent(metric, now.mono);
  return out;
}

void Metrics::forget_absent(Metric& metric, Mono now) {
  const bool are_many = metric.series.size() > kKeysMax;
  const Duration kept = std::max({kAbsentKept, metric.keep, metric.policy.last_for});
  for (auto at = metric.series.begin(); at != metric.series.end();) {
    const Series& series = at->second;
    const bool is_absent =
        series.reading() != metric.readings && (are_many || now - series.read_at() > kept);
    if (is_absent) at->second.history.clear(budget_);
    at = is_absent ? metric.series.erase(at) : std::next(at);
  }
}

void Metrics::take(const model::MetricPast& past, Now now) {
  const auto found = metrics_.find(past.metric);
  if (found == metrics_.end() || !is_of(past.source, found->second.policy)) return;
  Metric& metric = found->second;
  if (metric.ended || metric.keep == Duration::zero()) return;
  for (const auto& sample : past.samples) take_past(metric, sample, now);
}

void Metrics::take_past(Metric& metric, const model::MetricSample& sample, Now now) {
  const Duration age = now.wall - sample.taken;
  if (age < Duration::zero() || age > 2 * metric.keep) return;
  const auto key = key_of(sample, metric.policy);
  if (!key || (metric.series.size() >= kKeysMax && !metric.series.contains(*key))) return;
  Series& series = metric.series[*key];
  const Mono at = now.mono - age;
  if (series.take_past(sample.value, at, metric.policy))
    series.history.add(at, sample.value, rules_of(metric.policy, metric.keep), budget_);
}

const Metrics::Metric* Metrics::find(std::string_view name) const {
  const auto found = metrics_.find(name);
  return found == metrics_.end() ? nullptr : &found->second;
}

const Series* Metrics::find(const Metric& metric, std::string_view key) {
  const auto found = metric.series.find(metric.policy.by.empty() ? std::string_view() : key);
  return found == metric.series.end() ? nullptr : &found->second;
}

Judgement Metrics::judge(const Metric& metric, const Series* series, std::string_view key,
                         Now now) {
  const Duration silent = now.mono - metric.ended.value_or(metric.since);
  const std::string failure = metric.failure.empty() ? "" : "; before: " + metric.failure;
  if (silent > kIntervalsMax * metric.policy.interval)
    return {MetricFlaw::kLate, "no reading for " + format_duration(silent) + failure};
  if (!metric.ended) return {MetricFlaw::kNeverRead, "not read yet"};
  if (!metric.failure.empty()) return {MetricFlaw::kFailed, metric.failure};
  if (series == nullptr || series->reading() != metric.readings)
    return {MetricFlaw::kMissing, "it has no value for '" + printable(key, 60) + "'"};
  return series->judge(metric.policy, now.wall);
}

MetricValue Metrics::value(std::string_view name, std::string_view key, Now now) const {
  MetricValue out;
  const Metric* metric = find(name);
  if (metric == nullptr) {
    out.judgement = {MetricFlaw::kNeverRead, "it is not configured"};
    return out;
  }
  const Series* series = find(*metric, key);
  out.judgement = judge(*metric, series, key, now);
  if (series != nullptr && series->has_sample()) out.taken = series->taken();
  if (out.judgement.flaw == MetricFlaw::kNone) {
    HOSTLER_ASSERT(series != nullptr, "a metric that is known has a series");
    out.number = series->value();
    return out;
  }
  // What a site says of failures counts once the metric was seen: not of one that never was.
  if (metric->readings == 0) return out;
  const auto& policy = metric->policy;
  if (policy.on_failure == model::OnFailure::kValue) out.substitute = policy.value;
  if (policy.on_failure == model::OnFailure::kLast && series != nullptr && series->good() &&
      now.mono - series->good()->at <= policy.last_for)
    out.substitute = series->good()->value;
  return out;
}

std::optional<double> Metrics::age_seconds(std::string_view name, std::string_view key,
                                           Wall now) const {
  const Metric* metric = find(name);
  const Series* series = metric == nullptr ? nullptr : find(*metric, key);
  if (series == nullptr || !series->has_sample()) return std::nullopt;
  return std::chrono::duration<double>(std::max(Duration::zero(), now - series->taken())).count();
}

std::pair<std::optional<double>, std::string> Metrics::over(std::string_view name,
                                                            std::string_view key, Over what,
                                                            Duration window, Mono now) const {
  const Metric* metric = find(name);
  const Series* series = metric == nullptr ? nullptr : find(*metric, key);
  std::optional<double> out;
  if (series != nullptr) {
    const auto& history = series->history;
    const Duration interval = metric->policy.interval;
    out = what == Over::kAverage ? history.average(now, window, interval)
                                 : history.largest(now, window, interval);
  }
  if (out) return {out, {}};
  const Duration reach = series == nullptr ? Duration::zero() : series->history.reach(now);
  if (reach >= window)
    return {std::nullopt, "for more than three intervals within the last " +
                              exact_duration(window) + " it has no good sample"};
  return {std::nullopt, "its good samples go back " + format_duration(reach) + " of the last " +
                            exact_duration(window)};
}

const model::MetricPolicy* Metrics::policy(std::string_view name) const {
  const Metric* metric = find(name);
  return metric == nullptr ? nullptr : &metric->policy;
}

bool Metrics::is_known(std::string_view name, Now now) const {
  const Metric* metric = find(name);
  if (metric == nullptr || !metric->ended || !metric->failure.empty()) return false;
  return std::ranges::all_of(metric->series, [&](const auto& entry) {
    const auto& [key, series] = entry;
    const MetricFlaw flaw = judge(*metric, &series, key, now).flaw;
    return flaw == MetricFlaw::kNone || flaw == MetricFlaw::kMissing;
  });
}

std::optional<Duration> Metrics::age(std::string_view name, Wall now) const {
  const Metric* metric = find(name);
  if (metric == nullptr) return std::nullopt;
  std::optional<Duration> out;
  for (const auto& [key, series] : metric->series)
    if (series.has_sample() && series.reading() == metric->readings)
      out = std::max({out.value_or(Duration::zero()), now - series.taken(), Duration::zero()});
  return out;
}

}  // namespace hostler::dispatch
