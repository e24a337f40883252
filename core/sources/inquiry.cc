#include "core/sources/inquiry.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "core/sources/prometheus.h"

namespace hostler::sources {
namespace {

/// Older is a mistake of the server; it also keeps sums of times in range.
constexpr double kAgeMaxSeconds = 1e9;

std::string seconds_text(std::optional<Wall> at) {
  if (!at) return "";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(at->us / 1'000'000),
                static_cast<long long>(at->us % 1'000'000));
  return text.data();
}

Result<Duration> age_of(double taken_s, double asked_s) {
  const double age = asked_s - taken_s;
  if (!(std::abs(age) <= kAgeMaxSeconds))
    return fail(Errc::kMisbehaving, "Prometheus says no time of the sample that can be");
  return std::chrono::microseconds(static_cast<std::int64_t>(std::max(age, 0.0) * 1e6));
}

}  // namespace

Inquiry::Inquiry(model::MetricSource source, std::optional<Wall> at, Wall now)
    : source_(std::move(source)), asked_time_(seconds_text(at)), base_(at.value_or(now)) {}

HttpRequest Inquiry::request() const {
  if (source_.kind == model::MetricSource::Kind::kHttp) return {source_.url, ""};
  if (time_.empty()) return instant_query(source_.url, source_.query, asked_time_);
  const std::string& selector = source_.age_of.empty() ? source_.query : source_.age_of;
  const std::string oldest = source_.by.empty() ? "min(" : "min by (" + source_.by + ") (";
  return instant_query(source_.url, oldest + "timestamp(" + selector + "))", time_);
}

Result<std::optional<Samples>> Inquiry::take(const HttpAnswer& answer) {
  if (answer.status >= 300 && answer.status < 400)
    return fail(Errc::kUnavailable, "the answer has status " + std::to_string(answer.status) +
                                        ", a redirect, which is not followed: write the address "
                                        "that it leads to in `url`");
  if (source_.kind == model::MetricSource::Kind::kHttp) return HOSTLER_TRY(read_body(answer));
  if (time_.empty()) return take_values(answer);
  return HOSTLER_TRY(take_times(answer));
}

Result<Samples> Inquiry::read_body(const HttpAnswer& answer) const {
  if (answer.status != 200)
    return fail(Errc::kUnavailable, "the answer has status " + std::to_string(answer.status));
  const double value = HOSTLER_TRY(number_at(answer.body, source_.pointer, "the answer", quotes()));
  return Samples{{.key = "", .value = value, .taken = base_}};
}

Result<std::optional<Samples>> Inquiry::take_values(const HttpAnswer& answer) {
  InstantResult result = HOSTLER_TRY(parse_instant(answer, source_.by, quotes()));
  const auto elements =
      HOSTLER_TRY(pick_elements(std::move(result.elements), source_.pick, source_.by, quotes()));
  for (const VectorElement& one : elements)
    samples_.push_back({.key = one.key, .value = one.value, .taken = base_});
  if (!source_.asks_age) return std::move(samples_);
  time_ = std::move(result.time);  // By its own clock: then no difference of clocks is an age.
  return std::optional<Samples>();
}

Result<Samples> Inquiry::take_times(const HttpAnswer& answer) {
  const auto result = parse_instant(answer, source_.by, quotes());
  if (!result) return tl::unexpected(Error(result.error()).with_context("the age"));
  const double asked = parse_number(result->time).value_or(std::nan(""));
  std::map<std::string, Duration> ages;  // the oldest of each key
  for (const VectorElement& one : result->elements) {
    const Duration age = HOSTLER_TRY(age_of(one.value, asked));
    Duration& oldest = ages[one.key];
    oldest = std::max(oldest, age);
  }
  Samples dated;
  for (model::MetricSample& sample : samples_) {
    const auto age = ages.find(sample.key);
    if (age == ages.end()) continue;  // A sample without a time is missing, and only this one.
    sample.taken = base_ + -age->second;
    dated.push_back(std::move(sample));
  }
  if (dated.empty())
    return fail(Errc::kUnavailable, "the age: no sample of `age_of` has the value of a label " +
                                        source_.by + " that the query has");
  return dated;
}

}  // namespace hostler::sources
