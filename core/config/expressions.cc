#include "core/config/expressions.h"

#include <set>

#include "core/expression/expression.h"

namespace hostler::config {
namespace {

using expression::Expression, expression::Input, expression::Wants;

void add_zones(const std::string& text, const std::vector<std::string>& metrics, Wants wants,
               std::set<std::string>& out) {
  if (text.empty()) return;
  const auto compiled = Expression::compile(text, metrics, wants);
  if (!compiled) return;
  for (const Input& input : compiled->inputs())
    if (input.kind == Input::Kind::kHour || input.kind == Input::Kind::kWeekday)
      out.insert(input.name);
}

}  // namespace

std::vector<std::string> metric_names(const model::SitePolicy& site) {
  std::vector<std::string> out;
  for (const auto& metric : site.metrics) out.push_back(metric.name);
  return out;
}

std::vector<std::string> zones_of(const model::SitePolicy& site) {
  const auto metrics = metric_names(site);
  std::set<std::string> out;
  for (const model::PoolPolicy& pool : site.pools) {
    const model::BoundTexts& texts = pool.sizes.texts;
    for (const std::string* text : {&texts.min, &texts.max, &texts.created_min, &texts.created_max})
      add_zones(*text, metrics, Wants::kNumber, out);
    if (pool.scaling.drain) add_zones(pool.scaling.drain->quiet, metrics, Wants::kBoolean, out);
  }
  return {out.begin(), out.end()};
}

}  // namespace hostler::config
