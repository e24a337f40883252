#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch/state/pool_counts.h"
#include "core/expression/expression.h"
#include "core/model/metric.h"
#include "core/model/policy.h"
#include "core/scheduler/decide_bounds.h"

/// One evaluation of expressions as the daemon makes it, from given numbers.
namespace hostler::simulation {

/// The value of labels by which a single text finds its metrics. No pool has this name.
inline constexpr const char* kTextKey = "(given)";

/// The numbers that expressions are computed from.
struct Given {
  std::vector<model::MetricReading> readings;  ///< Each metric is taken to have said it always.
  std::vector<model::ZoneTimes> zones;
  dispatch::PoolCounts counts;
  /// How many hosts there are is known: the rules of `scaling` apply, as right after a start. Else
  /// they are left out.
  bool knows_hosts = false;
  Now now;
};

/// A number that expressions name.
struct InputNow {
  expression::Input input;
  std::string text;             ///< As in an expression: "age(m)".
  std::optional<double> value;  ///< Unset: it is unknown.
  std::string note;             ///< Why, or what `on_failure` put in its place; may be empty.
  std::optional<double> age;    ///< Seconds since a metric's sample was taken, 0 or above.
};

struct BoundNow {
  std::string key;            ///< "created_min"; "result" of a single text.
  std::string text;           ///< Empty: the configuration has a number.
  scheduler::BoundNote note;  ///< The number of the text, and what the rules made of it.
};

struct Evaluation {
  std::vector<InputNow> inputs;  ///< Each once, in the order of their first use.
  std::vector<BoundNow> bounds;  ///< Those of started and created hosts; texts come first.
};

/// A number as the daemon writes it: the shortest text that reads as the same one.
[[nodiscard]] std::string number_text(double value);

/// The bounds of the pool.
[[nodiscard]] Evaluation evaluate(const model::SitePolicy& policy, std::uint32_t pool,
                                  const Given& given);
/// A single text as if it were a bound of a pool without a ceiling; of one that gives true or
/// false, 1 or 0. kInvalidArgument: it does not compile, with the line and a caret.
[[nodiscard]] Result<Evaluation> evaluate(const model::SitePolicy& policy, const std::string& text,
                                          const Given& given);

/// The inputs that the bounds of the pool, and the text, name, each once.
[[nodiscard]] std::vector<expression::Input> inputs_of(const model::SitePolicy& policy,
                                                       std::uint32_t pool);
[[nodiscard]] Result<std::vector<expression::Input>> inputs_of(const model::SitePolicy& policy,
                                                               const std::string& text);

}  // namespace hostler::simulation
