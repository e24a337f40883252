#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/simulation/evaluation.h"

/// The numbers that `hostler eval` computes with: those that the user gives, and metrics that are
/// read.
namespace hostler::cli {

struct GivenNumbers {
  /// Metrics, and what a pool counts ("created"). Unset: the metric is unknown.
  std::map<std::string, std::optional<double>> by_name;
  std::optional<Wall> at;  ///< Unset: now.

  [[nodiscard]] bool has(const std::string& name) const { return by_name.contains(name); }
};

/// "NAME=NUMBER". Each name once.
Result<void> add_number(std::string_view word, GivenNumbers& out);
/// "2026-11-21T10:15:04Z", or seconds since 1970.
Result<Wall> parse_time(std::string_view text);
/// A word for what a pool counts: "created".
bool is_count(std::string_view name);
/// Refuses a name that is neither a metric of the site nor a count, and counts that are no whole
/// numbers.
Result<void> check_names(const GivenNumbers& given, const model::SitePolicy& site);

/// Reads all metrics of `inputs` that are not given, all at the same time, unless `reads` is
/// false: then they are unknown. `pool`: the value of the label of metrics that are
/// given. `now`: the time
/// if none is given. Blocks. Fails if a time zone cannot be read.
Result<simulation::Given> numbers_of(const std::vector<expression::Input>& inputs,
                                     const config::Config& config, const std::string& pool,
                                     const GivenNumbers& given, bool reads, Wall now);

/// The counts that `inputs` name and nobody has given: they are 0.
std::vector<std::string> missing_counts(const std::vector<expression::Input>& inputs,
                                        const GivenNumbers& given);

}  // namespace hostler::cli
