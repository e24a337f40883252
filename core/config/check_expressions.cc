#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/config/expressions.h"
#include "core/config/readers.h"
#include "core/expression/expression.h"
#include "core/model/ceilings.h"
#include "core/sources/zones.h"

namespace hostler::config {
namespace {

using expression::Expression, expression::Input, expression::Wants;
using json::Field;

constexpr Duration kLongestWindow = 24h * 7;

/// A member of an object that was read before.
Field member(const Field& of, std::string_view key, json::Problems& problems) {
  if (!of.present() || !of.value()->has(key)) return {std::nullopt, problems};
  return {of.value()->at(key), problems};
}

/// The lines below the first one show the place in the text.
void add_problem(const Field& field, const std::string& message, json::Problems& problems) {
  const std::size_t end = message.find('\n');
  if (end == std::string::npos) {
    field.problem(message);
    return;
  }
  const std::string path = field.value()->path();
  problems.add(Error{Errc::kInvalidArgument,
                     path + ": " + message.substr(0, end) + " (at " + field.value()->position() +
                         ")" + message.substr(end),
                     path});
}

class Checker {
 public:
  Checker(const Context& context, json::Problems& problems, Config& config)
      : context_(context),
        problems_(problems),
        config_(config),
        names_(metric_names(config.site)) {}

  void check_pool(const Field& at, const model::PoolPolicy& pool) {
    const model::BoundTexts& texts = pool.sizes.texts;
    check_bound(member(at, "min", problems_), texts.min, pool);
    check_bound(member(at, "max", problems_), texts.max, pool);
    check_bound(member(at, "created_min", problems_), texts.created_min, pool);
    check_bound(member(at, "created_max", problems_), texts.created_max, pool);
    const Field scaling = member(at, "scaling", problems_);
    check_rank(member(scaling, "rank", problems_), pool.scaling.rank);
    if (pool.scaling.drain && !pool.scaling.drain->quiet.empty())
      compile(member(member(scaling, "drain", problems_), "quiet", problems_),
              pool.scaling.drain->quiet, Wants::kBoolean);
    check_default_max(member(at, "max", problems_), pool);
    if (member(scaling, "up", problems_).present() || member(scaling, "down", problems_).present())
      if (!texts.any())
        warn(pool, "has scaling.up or scaling.down, and no bound that is an expression");
  }

  void check_metric(const Field& at, std::size_t index) {
    model::MetricSource& source = config_.metric_sources[index];
    if (!used_.contains(source.name) && problems_.ok())
      context_.warnings.push_back("metrics: no pool uses \"" + source.name + "\"");
    if (aged_.contains(source.name)) source.asks_age = true;
    if (source.kind != model::MetricSource::Kind::kPrometheus || !source.asks_age) return;
    if (!source.age_of.empty() || source.query.empty() || is_plain_selector(source.query)) return;
    const Field query = member(member(member(at, "source", problems_), "prometheus", problems_),
                               "query", problems_);
    query.problem(
        "its samples have no time of their own, as it is no plain selector, and max_age or age() "
        "asks for their age: name the selector whose samples are dated in age_of");
  }

 private:
  /// The default of max ends what an expression wants only below the ceilings.
  void check_default_max(const Field& max, const model::PoolPolicy& pool) {
    const model::PoolSizes& sizes = pool.sizes;
    if (sizes.texts.min.empty() || max.present()) return;
    const std::int64_t ceiling = model::host_ceilings(config_.site, pool).lowest();
    if (ceiling == 0 || ceiling > sizes.max)
      warn(pool, "has an expression as min and no max, so it never has more than " +
                     std::to_string(sizes.max) + " hosts");
  }

  void warn(const model::PoolPolicy& pool, const std::string& text) {
    context_.warnings.push_back("pools: \"" + pool.name + "\" " + text);
  }

  void check_bound(const Field& field, const std::string& text, const model::PoolPolicy& pool) {
    if (text.empty()) return;
    compile(field, text, Wants::kNumber);
    if (model::host_ceilings(config_.site, pool).lowest() == 0)
      field.problem(
          "an expression needs a fixed limit besides max, since it can be wrong by any factor: set "
          "ceilings.instances_max of this pool, of all its sets or of the site above 0");
  }

  void check_rank(const Field& field, const std::string& rank) {
    if (rank.empty()) return;
    const auto& metrics = config_.site.metrics;
    const auto found = std::ranges::find(metrics, rank, &model::MetricPolicy::name);
    if (found == metrics.end())
      field.problem("found \"" + rank + "\", which is not a configured metric");
    else if (found->by.empty())
      field.problem("metric \"" + rank +
                    "\" is one number for all hosts: it needs source.prometheus.by, the label that "
                    "says of which instance a sample is");
    used_.insert(rank);
  }

  void compile(const Field& field, const std::string& text, Wants wants) {
    const auto compiled = Expression::compile(text, names_, wants);
    if (!compiled) return add_problem(field, compiled.error().message, problems_);
    for (const Input& input : compiled->inputs()) check_input(field, input);
    if (compiled->inputs().empty()) check_constant(field, *compiled, problems_);
  }

  /// A text that names no input has the same result at any time.
  static void check_constant(const Field& field, const Expression& compiled,
                             json::Problems& problems) {
    const auto result = compiled.evaluate({});
    if (!result) return add_problem(field, result.error().message, problems);
    if (!std::isfinite(*result))
      field.problem("its result is always infinite or NaN, which is no number of hosts");
  }

  void check_input(const Field& field, const Input& input) {
    if (input.kind == Input::Kind::kHour || input.kind == Input::Kind::kWeekday) {
      if (const auto known = sources::check_zone(input.name); !known)
        field.problem(known.error().message);
      return;
    }
    const auto& metrics = config_.site.metrics;
    const auto found = std::ranges::find(metrics, input.name, &model::MetricPolicy::name);
    if (found == metrics.end()) return;  // It counts hosts or jobs.
    used_.insert(input.name);
    if (input.kind == Input::Kind::kAge) aged_.insert(input.name);
    if (input.window == Duration{} ||
        (input.window >= found->interval && input.window <= kLongestWindow))
      return;
    field.problem("found a time of " + exact_duration(input.window) + " over which \"" +
                  input.name + "\" is computed, allowed: from its interval, " +
                  exact_duration(found->interval) + ", to " + exact_duration(kLongestWindow));
  }

  const Context& context_;
  json::Problems& problems_;
  Config& config_;
  std::vector<std::string> names_;
  std::set<std::string> used_, aged_;
};

/// True if each element was read into an element of its own.
bool is_whole(const Field& field, std::size_t read) {
  if (!field.present()) return read == 0;
  return field.value()->is(json::Kind::kArray) && field.value()->size() == read;
}

}  // namespace

void check_expressions(json::Object& o, const Context& context, Config& out) {
  const Field pools = o.may("pools"), metrics = o.may("metrics");
  // Otherwise what follows would be about problems that were told.
  if (!is_whole(pools, out.site.pools.size()) || !is_whole(metrics, out.site.metrics.size()))
    return;
  Checker checker(context, o.problems(), out);
  std::size_t index = 0;
  pools.each(out.site.pools.size(),
             [&](const Field& pool) { checker.check_pool(pool, out.site.pools[index++]); });
  index = 0;
  metrics.each(out.site.metrics.size(),
               [&](const Field& metric) { checker.check_metric(metric, index++); });
}

}  // namespace hostler::config
