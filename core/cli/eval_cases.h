#pragma once

#include <string>
#include <vector>

#include "core/cli/eval_numbers.h"

/// `hostler eval POOL --test FILE`: what bounds must be for given numbers.
namespace hostler::cli {

struct EvalCase {
  std::string name;
  GivenNumbers given;
  /// By the key of the bound ("created_min"). Unset: it must be unknown.
  std::map<std::string, std::optional<std::int64_t>> expected;
};

/// Reads a list of {"name", "set", "at", "expect"}. The error names the path and what is allowed.
Result<std::vector<EvalCase>> parse_cases(std::string_view text);

/// The mistakes in the bounds of the pool in this case, one line each; empty: nothing. Metrics
/// that it does not set are unknown. Fails if it sets what the site does not have.
Result<std::vector<std::string>> run_case(const EvalCase& one, const config::Config& config,
                                          std::uint32_t pool);

}  // namespace hostler::cli
