#include "sdk/check/process/outcome.h"

#include <algorithm>

namespace hostler::check {

Verdict verdict_of(const std::vector<Finding>& findings) {
  const auto has = [&](Finding::Kind kind) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& one) { return one.kind == kind; });
  };
  if (has(Finding::Kind::kFail)) return Verdict::kFailed;
  if (has(Finding::Kind::kWarning)) return Verdict::kWarned;
  return has(Finding::Kind::kSkip) ? Verdict::kSkipped : Verdict::kPassed;
}

}  // namespace hostler::check
