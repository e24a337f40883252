#include "core/cli/eval_result.h"

#include <algorithm>
#include <utility>

#include "core/scheduler/bounds.h"

namespace hostler::cli {
namespace {

using expression::Input;

bool is_over_time(const Input& input) {
  return input.kind == Input::Kind::kAvgOver || input.kind == Input::Kind::kMaxOver;
}

bool has_created_bounds(const model::PoolPolicy& pool) {
  const auto bounds = scheduler::bounds_of_config(pool, {});
  return std::ranges::any_of(bounds.all(), [](const scheduler::Bound& bound) {
    return bound.of == scheduler::BoundOf::kCreatedMin ||
           bound.of == scheduler::BoundOf::kCreatedMax;
  });
}

/// How many hosts there are is known, as far as the bounds of the pool go by it.
bool knows_hosts(const model::PoolPolicy& pool, const GivenNumbers& given) {
  return given.has("started") && (!has_created_bounds(pool) || given.has("created"));
}

bool has_rules(const model::ScalingPolicy& scaling) {
  return scaling.up != model::ScalingRules{} || scaling.down.window > Duration{} ||
         !scaling.down.policies.empty() || scaling.down.tolerance > 0;
}

EvalResult result_of(simulation::Evaluation evaluation, const GivenNumbers& given, Wall at) {
  EvalResult out{
      .pool = {}, .at = at, .evaluation = std::move(evaluation), .missing = {}, .notes = {}};
  std::vector<Input> inputs;
  for (auto& one : out.evaluation.inputs) {
    inputs.push_back(one.input);
    const bool is_given =
        given.has(one.text) || (one.input.is_of_metric() && given.has(one.input.name));
    if (!one.value || !is_given) continue;
    one.age.reset();
    if (one.note.empty()) one.note = "given";
  }
  out.missing = missing_counts(inputs, given);
  if (std::ranges::any_of(inputs, is_over_time))
    out.notes.emplace_back(
        "the samples that the daemon keeps are not here: avg_over and max_over take the present "
        "value as that of the whole time");
  return out;
}

/// What windows and policies would need, and is not here.
std::string note_of_rules(const model::PoolPolicy& pool, bool knows_hosts) {
  if (!has_rules(pool.scaling)) return {};
  if (knows_hosts)
    return "windows and policies are those of a daemon that has just started: the given hosts "
           "count "
           "as recommended until now";
  return std::string("windows, policies and tolerance are left out: --set started=N ") +
         (has_created_bounds(pool) ? "and --set created=N say" : "says") +
         " how many hosts there are";
}

/// Of bounds that cross the maximum wins, unless both are texts: then both are unknown.
void note_crossed(const std::vector<simulation::BoundNow>& bounds, const std::string& min_key,
                  const std::string& max_key, std::vector<std::string>& out) {
  const auto number = [&](const std::string& key) -> std::optional<std::int64_t> {
    const auto found = std::ranges::find(bounds, key, &simulation::BoundNow::key);
    return found == bounds.end() ? std::nullopt : found->note.number;
  };
  const auto min = number(min_key), max = number(max_key);
  if (min && max && *min > *max)
    out.push_back(min_key + " " + std::to_string(*min) + " is above " + max_key + " " +
                  std::to_string(*max) + ": " + max_key + " wins");
}

}  // namespace

bool EvalResult::is_known() const {
  return std::ranges::all_of(evaluation.bounds,
                             [](const auto& one) { return one.note.number.has_value(); });
}

Result<EvalResult> evaluate_pool(const config::Config& config, std::uint32_t pool,
                                 const GivenNumbers& given, bool reads, Wall now) {
  const model::PoolPolicy& policy = config.site.pools[pool];
  auto numbers = HOSTLER_TRY(
      numbers_of(simulation::inputs_of(config.site, pool), config, policy.name, given, reads, now));
  numbers.knows_hosts = knows_hosts(policy, given);
  EvalResult out =
      result_of(simulation::evaluate(config.site, pool, numbers), given, numbers.now.wall);
  out.pool = policy.name;
  const auto& bounds = out.evaluation.bounds;
  note_crossed(bounds, "min", "max", out.notes);
  note_crossed(bounds, "min", "created_max", out.notes);
  note_crossed(bounds, "created_min", "created_max", out.notes);
  const bool has_texts =
      std::ranges::any_of(bounds, [](const auto& one) { return !one.text.empty(); });
  if (auto note = note_of_rules(policy, numbers.knows_hosts); has_texts && !note.empty())
    out.notes.push_back(std::move(note));
  return out;
}

Result<EvalResult> evaluate_text(const config::Config& config, const std::string& text,
                                 const GivenNumbers& given, bool reads, Wall now) {
  const auto inputs = HOSTLER_TRY(simulation::inputs_of(config.site, text));
  const auto numbers =
      HOSTLER_TRY(numbers_of(inputs, config, simulation::kTextKey, given, reads, now));
  return result_of(HOSTLER_TRY(simulation::evaluate(config.site, text, numbers)), given,
                   numbers.now.wall);
}

}  // namespace hostler::cli
