#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/state/expressions.h"
#include "core/dispatch/state/metrics/metrics.h"
#include "core/dispatch/state/metrics/zones.h"
#include "core/dispatch/state/pool_counts.h"

namespace hostler::dispatch {

/// Where the inputs of expressions get their numbers. Owns nothing.
class ExpressionInputs {
 public:
  ExpressionInputs(const Metrics& metrics, const Zones& zones) : metrics_(metrics), zones_(zones) {}

  /// What an expression is about.
  struct Subject {
    /// Under which keys the values of metrics with a label are found: the first that has one.
    std::vector<std::string> keys;
    const PoolCounts& counts;  ///< Of its pool.
    /// Set: a metric counts only if it was measured after that, and not what `on_failure` says in
    /// place of a value.
    std::optional<Wall> measured_after = {};
    bool knows_zones = false;  ///< Time zones were read since the start.
  };
  struct Outcome {
    std::optional<double> value;  ///< May be NaN or infinite. Unset: it is unknown.
    std::string text;             ///< Why; or what it comes from: "queue_depth 42, idle 3".
    bool is_early = false;        ///< Unknown as something was not read yet since the start.
  };
  /// The expression now. If some input is unknown, so is the result.
  [[nodiscard]] Outcome evaluate(const MaybeExpression& compiled, const Subject& subject,
                                 Now now) const;

 private:
  /// One input.
  struct Given {
    std::optional<double> value;
    std::string why;   ///< It is unknown.
    std::string note;  ///< It is not as it was measured.
    bool is_early = false;
  };
  [[nodiscard]] Given give(const expression::Input& input, const Subject& subject, Now now) const;
  [[nodiscard]] Given give_metric(const expression::Input& input, const Subject& subject,
                                  Now now) const;

  const Metrics& metrics_;
  const Zones& zones_;
};

}  // namespace hostler::dispatch
