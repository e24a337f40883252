#include "core/dispatch/queries/pool_views.h"

#include <set>

#include "core/dispatch/queries.h"
#include "core/dispatch/queries/push_views.h"

namespace hostler::dispatch {

std::vector<model::BoundView> bounds_of(const State& state, std::uint32_t pool) {
  std::vector<model::BoundView> out;
  const auto& texts = state.expressions.of(pool).bounds;
  const auto& last = state.decisions.at(pool).last;
  for (std::size_t i = 0; i < texts.size() && i < last.notes.size(); ++i) {
    const auto& note = last.notes[i];
    out.push_back({.bound = bound_name(note.of),
                   .expression = texts[i].text,
                   .computed = note.computed,
                   .wanted = note.wanted,
                   .number = note.number,
                   .changes = note.changes,
                   .from = note.number ? last.bounds[i].reason : std::string(),
                   .unknown = note.unknown});
  }
  return out;
}

std::vector<model::MetricView> metrics_of(const State& state, std::uint32_t pool, Now now) {
  std::vector<model::MetricView> out;
  std::set<std::string> seen;
  const std::string& name = state.policy.pools[pool].name;
  for (const auto& bound : state.expressions.of(pool).bounds) {
    if (!bound.compiled) continue;
    for (const auto& input : bound.compiled->inputs()) {
      const auto* policy = state.metrics.policy(input.name);
      if (policy == nullptr || !seen.insert(input.name).second) continue;
      auto value = state.metrics.value(input.name, name, now);
      auto& view = out.emplace_back();
      view.name = input.name;
      if (!policy->by.empty()) view.key = name;
      view.value = value.number;
      view.problem = std::move(value.judgement.text);
      view.substitute = value.substitute;
      if (value.taken) view.age = std::max(Duration::zero(), now.wall - *value.taken);
    }
  }
  return out;
}

std::vector<std::string> conditions_of(const State& state, std::uint32_t pool) {
  std::vector<std::string> out;
  const auto& last = state.decisions.at(pool).last;
  for (const auto& note : last.notes) {
    const std::string bound = bound_name(note.of);
    if (!note.unknown.empty())
      out.push_back("its " + bound + " is not known, so no host goes for it: " + note.unknown);
    if (note.is_at_ceiling)
      out.push_back("its " + bound + " is at a ceiling: " + note.changes.front());
  }
  for (auto& text : conditions_of_pushes(state, pool)) out.push_back(std::move(text));
  return out;
}

std::vector<model::MetricStatus> Queries::metrics(Now now) const {
  std::vector<model::MetricStatus> out;
  for (const auto& policy : state_.policy.metrics)
    out.push_back({.name = policy.name,
                   .known = state_.metrics.is_known(policy.name, now),
                   .age = state_.metrics.age(policy.name, now.wall)});
  for (const auto& [of, count] : state_.metrics.outcomes())
    for (auto& status : out)
      if (status.name == of.first) status.readings[of.second] = count;
  return out;
}

}  // namespace hostler::dispatch
