#include "core/dispatch/state/expression_inputs.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/dispatch/state/metrics/number_text.h"

namespace hostler::dispatch {

using expression::Input;

namespace {

constexpr std::size_t kInputsShown = 3;

/// An error of a text points at the place on further lines: here is one line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Parts of a list for people: the first ones, and how many more there are.
class Parts {
 public:
  void add(const std::string& part, const char* separator) {
    if (++count_ > kInputsShown) return;
    text_ += (text_.empty() ? "" : separator) + part;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string text() const {
    if (count_ <= kInputsShown) return text_;
    return text_ + " and " + std::to_string(count_ - kInputsShown) + " more";
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

template <class Number>
std::optional<double> as_double(std::optional<Number> number) {
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

}  // namespace

ExpressionInputs::Outcome ExpressionInputs::evaluate(const MaybeExpression& compiled,
                                                     const Subject& subject, Now now) const {
  if (!compiled)
    return {std::nullopt, "it does not compile: " + first_line(compiled.error().message), false};
  std::vector<double> values;
  Parts unknown, known;
  bool is_early = false;
  for (const Input& input : compiled->inputs()) {
    const Given given = give(input, subject, now);
    if (!given.value) {
      unknown.add(expression::to_text(input) + ": " + given.why, "; ");
      is_early |= given.is_early;
      continue;
    }
    values.push_back(*given.value);
    known.add(expression::to_text(input) + " " + number_text(*given.value) +
                  (given.note.empty() ? "" : " (" + given.note + ")"),
              ", ");
  }
  if (!unknown.empty()) return {std::nullopt, unknown.text(), is_early};
  const auto result = compiled->evaluate(values);
  if (!result) {
    // The lines that follow show the place in the text.
    const std::string& message = result.error().message;
    std::string why = message.substr(0, message.find('\n'));
    if (!known.empty()) why += " (" + known.text() + ")";
    return {std::nullopt, std::move(why), false};
  }
  return {*result, known.text(), false};
}

ExpressionInputs::Given ExpressionInputs::give(const Input& input, const Subject& subject,
                                               Now now) const {
  const PoolCounts& counts = subject.counts;
  const auto of_hosts = [&](std::int64_t count) {
    if (counts.adopted == 0) return Given{static_cast<double>(count), {}, {}, false};
    return Given{std::nullopt, counts.unverified_text(), {}, false};
  };
  const auto of_zone = [&](std::optional<std::int64_t> number) {
    return Given{as_double(number),
                 "the offsets of this time zone are not known now",
                 {},
                 !subject.knows_zones};
  };
  switch (input.kind) {
    case Input::Kind::kCreated:
      return {static_cast<double>(counts.created), {}, {}, false};
    case Input::Kind::kStarted:
      return {static_cast<double>(counts.started), {}, {}, false};
    case Input::Kind::kIdle:
      return of_hosts(counts.idle);
    case Input::Kind::kBusy:
      return of_hosts(counts.busy);
    case Input::Kind::kQueued:
      return {static_cast<double>(counts.queued), {}, {}, false};
    case Input::Kind::kHour:
      return of_zone(zones_.hour(input.name, now.wall));
    case Input::Kind::kWeekday:
      return of_zone(zones_.weekday(input.name, now.wall));
    default:
      return give_metric(input, subject, now);
  }
}

ExpressionInputs::Given ExpressionInputs::give_metric(const Input& input, const Subject& subject,
                                                      Now now) const {
  std::string_view key;
  MetricValue value;
  for (const std::string& one : subject.keys) {
    key = one;
    value = metrics_.value(input.name, key, now);
    if (value.judgement.flaw != MetricFlaw::kMissing) break;
  }
  const auto number = subject.measured_after ? value.number : value.for_bounds();
  if (!number)
    return {std::nullopt, value.judgement.text, {}, value.judgement.flaw == MetricFlaw::kNeverRead};
  if (subject.measured_after && (!value.taken || *value.taken <= *subject.measured_after))
    return {std::nullopt, "it was not measured since then", {}, false};
  const std::string note = value.number ? "" : "on_failure: " + value.judgement.text;
  if (input.kind == Input::Kind::kMetric) return {number, {}, note, false};
  if (input.kind == Input::Kind::kAge)
    return {metrics_.age_seconds(input.name, key, now.wall), "it has no sample", note, false};
  auto [over, why] = metrics_.over(
      input.name, key,
      input.kind == Input::Kind::kAvgOver ? Metrics::Over::kAverage : Metrics::Over::kLargest,
      input.window, now.mono);
  return {over, std::move(why), note, false};
}

}  // namespace hostler::dispatch
