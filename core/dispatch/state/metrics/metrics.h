#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch/state/metrics/series.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// A metric at one time.
struct MetricValue {
  std::optional<double> number;      ///< As it was measured; unset: it is unknown.
  std::optional<double> substitute;  ///< Unknown, but bounds go by this: `on_failure`.
  Judgement judgement;               ///< Why `number` is unset.
  std::optional<Wall> taken;         ///< Of the last sample, known or not.

  [[nodiscard]] std::optional<double> for_bounds() const { return number ? number : substitute; }
};

/// What was read of the metrics of the policy, and how far that is known. A restart forgets all of
/// it: nothing is known before it was read again.
class Metrics {
 public:
  static constexpr std::size_t kKeysMax = 10'000;
  /// So many intervals after the last reading a metric is late. History has the same rule.
  static constexpr int kIntervalsMax = 3;

  /// Replaces the metrics; what was read of those that have the same source stays, as far as it is
  /// good by their new rules. `windows`: the longest time of which averages are asked, by metric.
  void configure(const std::vector<model::MetricPolicy>& metrics,
                 const std::map<std::string, Duration>& windows, Now now);
  /// The end of a reading. Metrics that are not configured, or have another source now, are left
  /// out.
  void take(const model::MetricReading& reading, Now now);
  /// Samples of before this start, by the rules of now. They count in averages, and the first
  /// reading is compared with the last of them.
  void take(const model::MetricPast& past, Now now);

  /// `key`: the value of the metric's label `by`; left out without one.
  [[nodiscard]] MetricValue value(std::string_view metric, std::string_view key, Now now) const;
  /// In seconds, of the last sample. Unset: there is none.
  [[nodiscard]] std::optional<double> age_seconds(std::string_view metric, std::string_view key,
                                                  Wall now) const;
  enum class Over : std::uint8_t { kAverage, kLargest };
  /// The good samples of the last `window`. Else why these do not cover it.
  [[nodiscard]] std::pair<std::optional<double>, std::string> over(std::string_view metric,
                                                                   std::string_view key, Over what,
                                                                   Duration window, Mono now) const;

  /// Null: there is no such metric.
  [[nodiscard]] const model::MetricPolicy* policy(std::string_view metric) const;
  /// The last reading was good, and none of its samples has a flaw now. O(keys).
  [[nodiscard]] bool is_known(std::string_view metric, Now now) const;
  /// Of the oldest sample of the last reading that had some; unset: none had. O(keys).
  [[nodiscard]] std::optional<Duration> age(std::string_view metric, Wall now) const;
  /// How many readings ended so: (metric, to_string(MetricFlaw)), since the start.
  using Outcomes = std::map<std::pair<std::string, std::string>, std::uint64_t>;
  [[nodiscard]] const Outcomes& outcomes() const { return outcomes_; }

 private:
  struct Metric {
    model::MetricPolicy policy;
    Duration keep{};             ///< Of its history.
    Mono since;                  ///< It was configured.
    std::optional<Mono> ended;   ///< The last reading.
    std::uint64_t readings = 0;  ///< That had samples, since the start.
    std::string failure;         ///< Of the last reading; empty: it was read.
    std::map<std::string, Series, std::less<>> series;
  };
  [[nodiscard]] const Metric* find(std::string_view name) const;
  [[nodiscard]] static const Series* find(const Metric& metric, std::string_view key);
  [[nodiscard]] static Judgement judge(const Metric& metric, const Series* series,
                                       std::string_view key, Now now);
  MetricFlaw take_samples(Metric& metric, const std::vector<model::MetricSample>& samples, Now now);
  void take_past(Metric& metric, const model::MetricSample& sample, Now now);
  void forget_absent(Metric& metric, Mono now);
  void forget(Metric& metric);
  void judge_again(Metric& metric, Wall now);

  std::map<std::string, Metric, std::less<>> metrics_;
  HistoryBudget budget_;
  Outcomes outcomes_;
};

}  // namespace hostler::dispatch
