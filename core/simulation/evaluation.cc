#include "core/simulation/evaluation.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <utility>

#include "core/config/expressions.h"
#include "core/dispatch/state/bound_decisions.h"
#include "core/dispatch/state/expression_inputs.h"
#include "core/dispatch/state/metrics/number_text.h"
#include "core/scheduler/bounds.h"

namespace hostler::simulation {
namespace {

using dispatch::PoolExpressions;
using expression::Expression, expression::Input, expression::Wants;

std::vector<Input> inputs_of(std::span<const PoolExpressions::OfBound> bounds) {
  std::vector<Input> out;
  for (const auto& bound : bounds)
    if (bound.compiled)
      for (const Input& input : bound.compiled->inputs())
        if (std::ranges::find(out, input) == out.end()) out.push_back(input);
  return out;
}

/// The bounds of one text: itself.
Result<PoolExpressions> compile(const model::SitePolicy& policy, const std::string& text) {
  const auto names = config::metric_names(policy);
  auto number = Expression::compile(text, names);
  auto boolean = Expression::compile(text, names, Wants::kBoolean);
  if (!number && !boolean) return tl::unexpected(std::move(number.error()));
  PoolExpressions out;
  out.bounds.push_back(
      {scheduler::BoundOf::kStartedMin, text, number ? std::move(number) : std::move(boolean)});
  return out;
}

/// So that one sample at the begin of the longest window and one of now cover all of it.
std::vector<model::MetricPolicy> seldom_read(std::vector<model::MetricPolicy> metrics,
                                             const std::map<std::string, Duration>& windows) {
  for (auto& metric : metrics)
    if (const auto window = windows.find(metric.name); window != windows.end())
      metric.interval = std::max(metric.interval, window->second);
  return metrics;
}

/// What was read, as the loop would know it.
class Known {
 public:
  Known(const model::SitePolicy& policy, const std::vector<Input>& inputs, const std::string& pool,
        const Given& given)
      : given_(given), pool_(pool), names_(config::metric_names(policy)) {
    std::map<std::string, Duration> windows;
    for (const Input& input : inputs)
      if (input.window > Duration{})
        windows[input.name] = std::max(windows[input.name], input.window);
    metrics_.configure(seldom_read(policy.metrics, windows), windows, given.now);
    for (const auto& reading : given.readings) take(reading, windows);
    zones_.take(given.zones);
  }

  [[nodiscard]] dispatch::ExpressionInputs::Outcome evaluate(
      const dispatch::MaybeExpression& compiled) const {
    return dispatch::ExpressionInputs(metrics_, zones_)
        .evaluate(compiled, {.keys = {pool_}, .counts = given_.counts}, given_.now);
  }
  [[nodiscard]] InputNow input_now(const Input& input) const {
    InputNow out{.input = input, .text = to_text(input), .value = {}, .note = {}, .age = {}};
    const auto outcome = evaluate(Expression::compile(out.text, names_));
    out.value = outcome.value;
    // It is "NAME: WHY" of an unknown one, and "NAME VALUE (NOTE)" of a known one.
    const auto at = outcome.text.find(outcome.value ? " (on_failure" : ": ");
    if (at != std::string::npos) out.note = outcome.text.substr(at + 2);
    if (outcome.value && !out.note.empty()) out.note.pop_back();
    if (input.kind != Input::Kind::kMetric) return out;
    if (const auto taken = metrics_.value(input.name, pool_, given_.now).taken)
      out.age = std::max(0.0, std::chrono::duration<double>(given_.now.wall - *taken).count());
    return out;
  }

 private:
  void take(const model::MetricReading& reading, const std::map<std::string, Duration>& windows) {
    if (const auto window = windows.find(reading.metric); window != windows.end()) {
      model::MetricPast past{.metric = reading.metric, .samples = reading.samples};
      for (auto& sample : past.samples) sample.taken = given_.now.wall + -window->second;
      metrics_.take(past, given_.now);
    }
    metrics_.take(reading, given_.now);
  }

  const Given& given_;
  const std::string& pool_;
  std::vector<std::string> names_;
  dispatch::Metrics metrics_;
  dispatch::Zones zones_;
};

struct Rules {
  model::ScalingPolicy scaling;
  std::optional<scheduler::HostCeiling> ceiling;
};

Evaluation evaluate_all(const model::SitePolicy& policy, const PoolExpressions& expressions,
                        const std::string& pool, const Rules& rules, const Given& given) {
  const std::vector<Input> inputs = inputs_of(expressions.bounds);
  const Known known(policy, inputs, pool, given);
  Evaluation out;
  for (const Input& input : inputs) out.inputs.push_back(known.input_now(input));
  std::vector<scheduler::Computed> computed;
  for (const auto& bound : expressions.bounds) {
    auto outcome = known.evaluate(bound.compiled);
    computed.push_back({bound.of, outcome.value, std::move(outcome.text)});
  }
  model::ScalingPolicy none;
  none.down.window = {};
  scheduler::PoolScaling nothing_decided;
  auto decided =
      scheduler::decide_bounds(computed, nothing_decided, given.knows_hosts ? rules.scaling : none,
                               {.started = given.counts.started, .created = given.counts.created},
                               rules.ceiling, given.now.mono);
  for (std::size_t i = 0; i < decided.notes.size(); ++i)
    out.bounds.push_back({dispatch::bound_name(decided.notes[i].of), expressions.bounds[i].text,
                          std::move(decided.notes[i])});
  return out;
}

/// Bounds of the configuration that are numbers.
void add_numbers(const model::PoolPolicy& pool, std::vector<BoundNow>& out) {
  const auto bounds = scheduler::bounds_of_config(pool, {});
  for (const scheduler::Bound& bound : bounds.all()) {
    if (!bound.number || bound.of > scheduler::BoundOf::kCreatedMax) continue;
    BoundNow& one = out.emplace_back();
    one.key = dispatch::bound_name(bound.of);
    one.note.of = bound.of;
    one.note.number = bound.number;
  }
}

}  // namespace

std::string number_text(double value) { return dispatch::number_text(value); }

Evaluation evaluate(const model::SitePolicy& policy, std::uint32_t pool, const Given& given) {
  dispatch::Expressions expressions;
  expressions.compile(policy);
  const model::PoolPolicy& its = policy.pools[pool];
  Evaluation out = evaluate_all(policy, expressions.of(pool), its.name,
                                {its.scaling, scheduler::host_ceiling(policy, pool)}, given);
  add_numbers(its, out.bounds);
  return out;
}

Result<Evaluation> evaluate(const model::SitePolicy& policy, const std::string& text,
                            const Given& given) {
  const PoolExpressions expressions = HOSTLER_TRY(compile(policy, text));
  Evaluation out = evaluate_all(policy, expressions, kTextKey, {}, given);
  out.bounds.front().key = "result";
  return out;
}

std::vector<Input> inputs_of(const model::SitePolicy& policy, std::uint32_t pool) {
  dispatch::Expressions expressions;
  expressions.compile(policy);
  return inputs_of(expressions.of(pool).bounds);
}

Result<std::vector<Input>> inputs_of(const model::SitePolicy& policy, const std::string& text) {
  const PoolExpressions expressions = HOSTLER_TRY(compile(policy, text));
  return inputs_of(expressions.bounds);
}

}  // namespace hostler::simulation
