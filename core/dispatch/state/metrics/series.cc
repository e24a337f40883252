#include "core/dispatch/state/metrics/series.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/base/units.h"
#include "core/dispatch/state/metrics/number_text.h"

namespace hostler::dispatch {
namespace {

/// Clocks of other machines differ by moments.
constexpr Duration kAheadMax = std::chrono::minutes(1);

std::optional<Judgement> judge_value(double value, const model::MetricPolicy& policy) {
  const std::string text = number_text(value);
  if (std::isnan(value)) return Judgement{MetricFlaw::kNan, "it is NaN"};
  if (std::isinf(value)) return Judgement{MetricFlaw::kInfinite, "it is " + text};
  if (policy.valid_min && value < *policy.valid_min)
    return Judgement{MetricFlaw::kInvalid,
                     text + " is below " + number_text(*policy.valid_min) + ", valid.min"};
  if (policy.valid_max && value > *policy.valid_max)
    return Judgement{MetricFlaw::kInvalid,
                     text + " is above " + number_text(*policy.valid_max) + ", valid.max"};
  return std::nullopt;
}

Judgement judge_step(double value, std::optional<double> before,
                     const model::MetricPolicy& policy) {
  if (!before || !policy.max_step || std::abs(value - *before) <= *policy.max_step) return {};
  return {MetricFlaw::kStep, "from " + number_text(*before) + " to " + number_text(value) +
                                 " in one reading is more than " + number_text(*policy.max_step) +
                                 ", max_step"};
}

Judgement judge_reading(double value, std::optional<double> before,
                        const model::MetricPolicy& policy) {
  return judge_value(value, policy).value_or(judge_step(value, before, policy));
}

}  // namespace

const char* to_string(MetricFlaw flaw) {
  constexpr std::array kNames{"ok",       "never_read", "failed", "missing", "late",  "nan",
                              "infinite", "invalid",    "step",   "old",     "future"};
  return kNames[static_cast<std::size_t>(flaw)];
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

MetricFlaw Series::take(const model::MetricSample& sample, std::uint64_t reading,
                        const model::MetricPolicy& policy, Now now) {
  reading_ = reading;
  value_ = sample.value;
  taken_ = sample.taken;
  read_at_ = now.mono;
  compared_ = before_;
  if (std::isfinite(value_)) before_ = value_;
  judge_again(policy, now.wall);
  return judge(policy, now.wall).flaw;
}

bool Series::take_past(double value, Mono at, const model::MetricPolicy& policy) {
  const auto compared = before_;
  if (std::isfinite(value)) before_ = value;
  read_at_ = at;
  return judge_reading(value, compared, policy).flaw == MetricFlaw::kNone;
}

void Series::judge_again(const model::MetricPolicy& policy, Wall now) {
  if (!has_sample()) return;
  at_reading_ = judge_reading(value_, compared_, policy);
  if (good_ && judge_value(good_->value, policy)) good_.reset();
  if (judge(policy, now).flaw == MetricFlaw::kNone) good_ = Good{value_, read_at_};
}

Judgement Series::judge(const model::MetricPolicy& policy, Wall now) const {
  if (at_reading_.flaw != MetricFlaw::kNone) return at_reading_;
  return judge_age(taken_, policy, now);
}

Judgement judge_age(Wall taken, const model::MetricPolicy& policy, Wall now) {
  const Duration age = now - taken;
  if (age < -kAheadMax)
    return {MetricFlaw::kFuture,
            "its time is " + format_duration(-age) + " ahead: a clock is wrong"};
  if (policy.max_age > Duration::zero() && age > policy.max_age)
    return {MetricFlaw::kOld,
            "it is " + format_duration(age) + " old, max_age is " + exact_duration(policy.max_age)};
  return {};
}

}  // namespace hostler::dispatch
