#pragma once

#include <string>
#include <vector>

#include "sdk/check/process/outcome.h"

namespace hostler::check {

/// All that came of a run, and the level that the driver has reached.
struct RunReport {
  std::string driver;  ///< The file.
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> quirks;
  std::vector<TestOutcome> outcomes;
  bool is_partial = false;  ///< Not all tests were chosen: they reach no level.
  bool was_stopped = false;

  [[nodiscard]] bool has_failed() const;
  /// Of all tests, until the cloud allowed more.
  [[nodiscard]] Duration waited() const;
};

/// Adds what came of the next test. A warning that an earlier test has given already stays with
/// that one: one cause gives one warning.
void add_outcome(RunReport& report, TestOutcome outcome);

/// "L1", "L2 (no endpoint)", "none": the highest level up to which no test has failed and some test
/// of it has passed. In brackets is what is missing from it.
std::string level_of(const RunReport& report);

/// What is printed when a test has ended; empty: nothing.
std::string line_of(const TestOutcome& outcome);
/// The end of the report for people.
std::string summary_of(const RunReport& report);
std::string json_of(const RunReport& report);
std::string junit_of(const RunReport& report);

/// "; also in 12 tests: call.list, open.two and 10 more"; empty: in no other test.
std::string others_of(const Finding& finding);
/// "R28 create: no id", without what is missing of it. The rule of a skip is the kit's own affair.
std::string text_of(const Finding& finding);

/// "pass", "warn", "skip", "fail".
const char* word_of(Verdict verdict);
/// "fail", "warn", "note", "skip".
const char* word_of(Finding::Kind kind);

}  // namespace hostler::check
