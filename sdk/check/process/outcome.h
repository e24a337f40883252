#pragma once

#include <string>
#include <vector>

#include "core/base/time.h"
#include "sdk/check/run/findings.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

enum class Verdict : std::uint8_t { kPassed, kWarned, kSkipped, kFailed };

/// What came of one test.
struct TestOutcome {
  Test test;
  Verdict verdict = Verdict::kPassed;
  std::vector<Finding> findings;
  std::string output;         ///< The last that the driver wrote to stdout and stderr, printable.
  Duration took{}, waited{};  ///< `waited`: of it, until the cloud allowed more.
  bool has_died = false;      ///< The process ended before the test: its machines are left.

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(took).count(); }
};

/// The worst of the findings decides; a skip counts only where nothing else was found.
Verdict verdict_of(const std::vector<Finding>& findings);

}  // namespace hostler::check
