#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/dispatch/state/metrics/history.h"
#include "core/model/metric.h"

namespace hostler::dispatch {

/// Why a metric has no number now.
enum class MetricFlaw : std::uint8_t {
  kNone,
  kNeverRead,
  kFailed,   ///< The last reading has failed.
  kMissing,  ///< The last reading has nothing of this key.
  kLate,     ///< No reading has ended for three intervals.
  kNan,
  kInfinite,
  kInvalid,  ///< Outside `valid`.
  kStep,     ///< Past `max_step`.
  kOld,      ///< Past `max_age`.
  kFuture,   ///< Its time is more than a minute ahead: a clock is wrong.
};
/// As shown: "never_read"; "ok" for kNone.
[[nodiscard]] const char* to_string(MetricFlaw flaw);

struct Judgement {
  MetricFlaw flaw = MetricFlaw::kNone;
  std::string text;  ///< For people; empty without a flaw.
};

/// What is wrong now with the age of a sample.
[[nodiscard]] Judgement judge_age(Wall taken, const model::MetricPolicy& policy, Wall now);

/// The samples of a metric under one key.
class Series {
 public:
  struct Good {
    double value = 0;
    Mono at;  ///< When it was read.
  };

  /// The reading of this number, from 1 on, has this sample. Compares it with the reading before,
  /// good or not.
  MetricFlaw take(const model::MetricSample& sample, std::uint64_t reading,
                  const model::MetricPolicy& policy, Now now);
  /// The same of a sample of before this start, which is never the present value. True: it is good.
  bool take_past(double value, Mono at, const model::MetricPolicy& policy);
  /// The policy is another one than at the last reading: what was read counts as far as it is good
  /// by this one.
  void judge_again(const model::MetricPolicy& policy, Wall now);
  /// What is wrong with the last sample now, its age included. Not for one without a sample.
  [[nodiscard]] Judgement judge(const model::MetricPolicy& policy, Wall now) const;

  /// The last reading that had a sample of it; 0: none since the start.
  [[nodiscard]] std::uint64_t reading() const { return reading_; }
  [[nodiscard]] bool has_sample() const { return reading_ > 0; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] Wall taken() const { return taken_; }
  [[nodiscard]] Mono read_at() const { return read_at_; }
  /// The last sample that was good when it was read, its age included.
  [[nodiscard]] const std::optional<Good>& good() const { return good_; }

  History history;

 private:
  std::uint64_t reading_ = 0;
  double value_ = 0;
  Wall taken_;
  Mono read_at_;
  Judgement at_reading_;
  std::optional<double> before_;    ///< The last finite one.
  std::optional<double> compared_;  ///< The same before the last reading.
  std::optional<Good> good_;
};

}  // namespace hostler::dispatch
