#pragma once

#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"

/// The needs of the expressions of pools: what comes from outside.
namespace hostler::config {

struct ExpressionNeeds {
  std::vector<std::string> zones;  ///< Each once, in order.
  Duration window{};               ///< The longest over which a metric is averaged.
};
/// The needs of bounds and drains. Texts that do not compile need nothing.
[[nodiscard]] ExpressionNeeds needs_of(const model::SitePolicy& site);
/// The names of the metrics, as expression::Expression::compile() takes them.
[[nodiscard]] std::vector<std::string> metric_names(const model::SitePolicy& site);

}  // namespace hostler::config
