#pragma once

#include <string>
#include <vector>

#include "core/model/policy.h"

/// What the expressions of pools need from outside. Texts that do not compile need nothing.
namespace hostler::config {

/// The time zones that bounds and drains name, each once, in order.
[[nodiscard]] std::vector<std::string> zones_of(const model::SitePolicy& site);
/// The names of the metrics, as expression::Expression::compile() takes them.
[[nodiscard]] std::vector<std::string> metric_names(const model::SitePolicy& site);

}  // namespace hostler::config
