#include "core/config/expressions.h"

#include <algorithm>
#include <set>

#include "core/expression/expression.h"

namespace hostler::config {
namespace {

using expression::Expression, expression::Input, expression::Wants;

struct Found {
  std::set<std::string> zones;
  Duration window{};
};

void add_needs(const std::string& text, const std::vector<std::string>& metrics, Wants wants,
               Found& out) {
  if (text.empty()) return;
  const auto compiled = Expression::compile(text, metrics, wants);
  if (!compiled) return;
  for (const Input& input : compiled->inputs()) {
    if (input.kind == Input::Kind::kHour || input.kind == Input::Kind::kWeekday)
      out.zones.insert(input.name);
    out.window = std::max(out.window, input.window);
  }
}

}  // namespace

std::vector<std::string> metric_names(const model::SitePolicy& site) {
  std::vector<std::string> out;
  for (const auto& metric : site.metrics) out.push_back(metric.name);
  return out;
}

ExpressionNeeds needs_of(const model::SitePolicy& site) {
  const auto metrics = metric_names(site);
  Found found;
  for (const model::PoolPolicy& pool : site.pools) {
    const model::BoundTexts& texts = pool.sizes.texts;
    for (const std::string* text : {&texts.min, &texts.max, &texts.created_min, &texts.created_max})
      add_needs(*text, metrics, Wants::kNumber, found);
    if (pool.scaling.drain) add_needs(pool.scaling.drain->quiet, metrics, Wants::kBoolean, found);
  }
  return {.zones = {found.zones.begin(), found.zones.end()}, .window = found.window};
}

}  // namespace hostler::config
