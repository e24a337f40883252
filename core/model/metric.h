#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"

/// Numbers from outside that bounds of pools are computed from.
namespace hostler::model {

using namespace std::chrono_literals;

inline constexpr std::size_t kMetricNameMax = 63;  ///< Bytes of its name,
inline constexpr std::size_t kMetricKeyMax = 255;  ///< and of a value of its label.

/// What a bound goes by while a metric that it names is unknown.
enum class OnFailure : std::uint8_t {
  kHold,   ///< The bound is unknown, too.
  kLast,   ///< The last good value for a time, then kHold.
  kValue,  ///< A fixed value.
};

/// What the loop can count itself.
enum class Counted : std::uint8_t { kQueued, kCreated, kStarted, kIdle, kBusy };
struct OwnCount {
  Counted what{};
  std::string pool;  ///< Empty: of the whole site.
  friend bool operator==(const OwnCount&, const OwnCount&) = default;
};

/// One metric as plans know it: a member for each key of `metrics[]` but its source, which is in
/// Config::metric_sources at the same index.
struct MetricPolicy {
  std::string name;
  Duration interval = 15s;
  std::optional<double> valid_min, valid_max;  ///< A value outside is unknown.
  std::optional<double> max_step;  ///< A value further from the reading before is unknown.
  Duration max_age{};              ///< An older sample is unknown; 0: no limit.
  OnFailure on_failure = OnFailure::kHold;
  Duration last_for{};  ///< Of kLast.
  double value = 0;     ///< Of kValue.
  /// The label that says of which pool (its name) or instance (its id, or the cloud's) a sample
  /// is. Empty: the metric is one number for the site.
  std::string by;
  /// Set: the loop counts it at each interval, and no reading comes from outside.
  std::optional<OwnCount> own = {};
  std::uint64_t source = 0;  ///< source_id(): which numbers come.
  friend bool operator==(const MetricPolicy&, const MetricPolicy&) = default;
};

/// How several samples of one query become one.
enum class Pick : std::uint8_t { kNone, kSum, kMax, kMin, kAvg };

/// Where a metric comes from. Tokens are read from their file at each request.
struct MetricSource {
  enum class Kind : std::uint8_t { kPrometheus, kHttp, kFile, kExec, kHostler };

  std::string name;  ///< Of the metric.
  Kind kind{};
  Duration interval = 15s, timeout = 5s;
  std::string url;          ///< kPrometheus (its address), kHttp.
  std::string token_file;   ///< Absolute; empty: requests carry no token.
  std::string query;        ///< kPrometheus.
  Pick pick = Pick::kNone;  ///< kPrometheus.
  std::string by;           ///< kPrometheus: as MetricPolicy::by.
  bool asks_age = false;    ///< kPrometheus: the time of the sample is asked for, too,
  std::string age_of;       ///< of this selector; empty: of `query`.
  std::string pointer;      ///< kHttp, kFile, kExec: JSON pointer; empty: all of it.
  std::string file;         ///< kFile: absolute.
  std::vector<std::string> command = {};  ///< kExec: absolute program and arguments, no shell.
  OwnCount own;                           ///< kHostler: as MetricPolicy::own.
  friend bool operator==(const MetricSource&, const MetricSource&) = default;
};

/// Differs for sources that may say other numbers: those of another query, address or pointer, but
/// not of another interval. The same in each start; not 0.
[[nodiscard]] std::uint64_t source_id(const MetricSource& source);

/// One number of a metric.
struct MetricSample {
  std::string key;  ///< Value of the label `by`; empty without one.
  double value = 0;
  Wall taken;  ///< When the source says that it was measured, or when it was read.
  friend bool operator==(const MetricSample&, const MetricSample&) = default;
};

/// The end of one reading of a metric.
struct MetricReading {
  std::string metric;
  std::vector<MetricSample> samples;
  std::string failure;       ///< Why there are none, for people; empty: it was read.
  std::uint64_t source = 0;  ///< Of which it is; 0: of the one that the metric has now.
  friend bool operator==(const MetricReading&, const MetricReading&) = default;
};

/// Readings of before a restart, of one series, oldest first. `taken` is when they were read.
struct MetricPast {
  std::string metric;
  std::vector<MetricSample> samples;
  std::uint64_t source = 0;  ///< As MetricReading::source.
};

/// A time zone: its offset from UTC holds from this time on.
struct ZoneOffset {
  Wall from;
  std::int32_t seconds = 0;
  friend bool operator==(const ZoneOffset&, const ZoneOffset&) = default;
};
struct ZoneTimes {
  std::string zone;                 ///< "Europe/Berlin"
  std::vector<ZoneOffset> offsets;  ///< By time; the first one holds now.
  friend bool operator==(const ZoneTimes&, const ZoneTimes&) = default;
};

}  // namespace hostler::model
