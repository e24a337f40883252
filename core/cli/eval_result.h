#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cli/eval_numbers.h"
#include "core/json/writer.h"

/// The result of `hostler eval`.
namespace hostler::cli {

struct EvalResult {
  std::string pool;  ///< Empty: it is that of --expr.
  Wall at;
  simulation::Evaluation evaluation;
  std::vector<std::string> missing;  ///< Counts that were not given, and so are 0.
  std::vector<std::string> notes;    ///< About it: rules that win, and differences to the daemon.

  /// All bounds are known.
  [[nodiscard]] bool is_known() const;
};

/// `reads`, `now`: as of numbers_of().
Result<EvalResult> evaluate_pool(const config::Config& config, std::uint32_t pool,
                                 const GivenNumbers& given, bool reads, Wall now);
Result<EvalResult> evaluate_text(const config::Config& config, const std::string& text,
                                 const GivenNumbers& given, bool reads, Wall now);

/// For people, several lines.
std::string eval_text(const EvalResult& result);
std::string eval_json(const EvalResult& result);

}  // namespace hostler::cli
