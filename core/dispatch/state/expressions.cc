#include "core/dispatch/state/expressions.h"

#include <algorithm>
#include <utility>

namespace hostler::dispatch {

using expression::Expression;
using expression::Input;
using scheduler::BoundOf;

void Expressions::compile(const model::SitePolicy& policy) {
  *this = {};
  std::vector<std::string> metrics;
  for (const auto& metric : policy.metrics) metrics.push_back(metric.name);
  pools_.resize(policy.pools.size());
  for (std::uint32_t p = 0; p < policy.pools.size(); ++p) {
    const auto& pool = policy.pools[p];
    const model::BoundTexts& texts = pool.sizes.texts;
    add_bound(p, BoundOf::kStartedMin, texts.min, metrics);
    add_bound(p, BoundOf::kStartedMax, texts.max, metrics);
    add_bound(p, BoundOf::kCreatedMin, texts.created_min, metrics);
    add_bound(p, BoundOf::kCreatedMax, texts.created_max, metrics);
    if (!pools_[p].bounds.empty()) with_bounds_.push_back(p);
    const auto& drain = pool.scaling.drain;
    if (!drain || drain->quiet.empty()) continue;
    pools_[p].quiet = Expression::compile(drain->quiet, metrics, expression::Wants::kBoolean);
    has_quiet_ = true;
    note_inputs(p, *pools_[p].quiet);
  }
}

void Expressions::add_bound(std::uint32_t pool, BoundOf of, const std::string& text,
                            std::span<const std::string> metrics) {
  if (text.empty()) return;
  PoolExpressions& its = pools_[pool];
  auto& added = its.bounds.emplace_back(
      PoolExpressions::OfBound{of, text, Expression::compile(text, metrics)});
  if (!added.compiled) return;
  for (const Input& input : added.compiled->inputs()) {
    if (!input.is_of_metric()) continue;
    auto& pools = by_metric_[input.name];
    if (pools.empty() || pools.back() != pool) pools.push_back(pool);
  }
  note_inputs(pool, added.compiled);
}

void Expressions::note_inputs(std::uint32_t pool, const MaybeExpression& compiled) {
  if (!compiled) return;
  for (const Input& input : compiled->inputs()) {
    pools_[pool].counts_queue |= input.kind == Input::Kind::kQueued;
    if (input.window > Duration::zero())
      windows_[input.name] = std::max(windows_[input.name], input.window);
  }
}

const std::vector<std::uint32_t>& Expressions::pools_of(const std::string& metric) const {
  static const std::vector<std::uint32_t> kNone;
  const auto found = by_metric_.find(metric);
  return found == by_metric_.end() ? kNone : found->second;
}

}  // namespace hostler::dispatch
