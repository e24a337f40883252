#include "sdk/check/report/report.h"

#include <algorithm>
#include <array>

#include "core/base/units.h"
#include "sdk/check/rules.h"

namespace hostler::check {
namespace {

constexpr int kLevels = 4;

/// What the tests of a level came to.
struct LevelCount {
  int passed = 0, failed = 0;
  bool lacks_cloud = false, lacks_room = false;
};

std::array<LevelCount, kLevels> count_levels(const std::vector<TestOutcome>& outcomes) {
  std::array<LevelCount, kLevels> counts{};
  for (const auto& one : outcomes) {
    auto& count = counts[static_cast<std::size_t>(one.test.level)];
    if (one.verdict == Verdict::kFailed) ++count.failed;
    if (one.verdict == Verdict::kPassed || one.verdict == Verdict::kWarned) ++count.passed;
    for (const auto& finding : one.findings) {
      if (finding.kind != Finding::Kind::kSkip) continue;
      count.lacks_cloud = count.lacks_cloud || finding.rule == kNoCloud;
      count.lacks_room = count.lacks_room || finding.rule == kNoRoom;
    }
  }
  return counts;
}

/// The same warning of an earlier test; null: there is none.
Finding* find_earlier(RunReport& report, const Finding& warning) {
  for (auto& outcome : report.outcomes)
    for (auto& one : outcome.findings)
      if (one.kind == warning.kind && one.rule == warning.rule && one.text == warning.text)
        return &one;
  return nullptr;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

bool RunReport::has_failed() const {
  return std::any_of(outcomes.begin(), outcomes.end(),
                     [](const TestOutcome& one) { return one.verdict == Verdict::kFailed; });
}

void add_outcome(RunReport& report, TestOutcome outcome) {
  std::erase_if(outcome.findings, [&](const Finding& finding) {
    if (finding.kind != Finding::Kind::kWarning) return false;
    Finding* const earlier = find_earlier(report, finding);
    if (earlier != nullptr) earlier->also_in.emplace_back(outcome.test.name);
    return earlier != nullptr;
  });
  if (outcome.verdict == Verdict::kWarned) outcome.verdict = verdict_of(outcome.findings);
  report.outcomes.push_back(std::move(outcome));
}

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "pass";
    case Verdict::kWarned:
      return "warn";
    case Verdict::kSkipped:
      return "skip";
    case Verdict::kFailed:
      return "fail";
  }
  return "?";
}

const char* word_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kFail:
      return "fail";
    case Finding::Kind::kWarning:
      return "warn";
    case Finding::Kind::kNote:
      return "note";
    case Finding::Kind::kSkip:
      return "skip";
  }
  return "?";
}

std::string text_of(const Finding& finding) {
  std::string out = finding.kind == Finding::Kind::kSkip ? "" : finding.rule;
  if (!finding.call.empty()) out += (out.empty() ? "" : " ") + finding.call;
  return out + (out.empty() ? "" : ": ") + finding.text;
}

std::string others_of(const Finding& finding) {
  constexpr std::size_t kNamesMax = 5;
  const auto& names = finding.also_in;
  if (names.empty()) return {};
  std::string out =
      "; also in " + std::to_string(names.size()) + (names.size() == 1 ? " test:" : " tests:");
  for (std::size_t i = 0; i < names.size() && i < kNamesMax; ++i)
    out += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > kNamesMax) out += " and " + std::to_string(names.size() - kNamesMax) + " more";
  return out;
}

std::string level_of(const RunReport& report) {
  if (report.is_partial) return "not said: only some tests have run";
  const auto counts = count_levels(report.outcomes);
  std::string reached = "none";
  for (int level = 0; level < kLevels; ++level) {
    const auto& count = counts[static_cast<std::size_t>(level)];
    if (count.failed > 0 || count.passed == 0) break;
    reached = "L" + std::to_string(level);
    if (count.lacks_cloud && count.lacks_room)
      reached += " (no endpoint, no room)";
    else if (count.lacks_cloud || count.lacks_room)
      reached += count.lacks_cloud ? " (no endpoint)" : " (no room)";
  }
  return reached;
}

std::string line_of(const TestOutcome& outcome) {
  std::string out = padded(word_of(outcome.verdict), 6) + padded(outcome.test.name, 26) +
                    outcome.test.promise + "\n";
  std::string last_rule;
  for (const auto& finding : outcome.findings) {
    out += std::string("      ") + padded(word_of(finding.kind), 6) + text_of(finding) + "\n";
    const auto advice = advice_for(finding.rule);
    if (!advice.empty() && finding.rule != std::exchange(last_rule, finding.rule))
      out += "            do: " + std::string(advice) + "\n";
  }
  if (outcome.verdict == Verdict::kFailed && !outcome.output.empty())
    out += "      it wrote " + outcome.output + "\n";
  return out;
}

Duration RunReport::waited() const {
  Duration sum{};
  for (const auto& one : outcomes) sum += one.waited;
  return sum;
}

std::string summary_of(const RunReport& report) {
  std::array<int, 4> counts{};
  for (const auto& one : report.outcomes) ++counts[static_cast<std::size_t>(one.verdict)];
  std::string out = "\n";
  for (const auto& [name, why] : report.quirks) out += "quirk " + name + ": " + why + "\n";
  for (const auto& one : report.outcomes)
    for (const auto& finding : one.findings)
      if (!finding.also_in.empty())
        out += "warning of " + std::string(one.test.name) + ": " + text_of(finding) +
               others_of(finding) + "\n";
  out += std::to_string(counts[0]) + " passed, " + std::to_string(counts[1]) + " with warnings, " +
         std::to_string(counts[2]) + " skipped, " + std::to_string(counts[3]) + " failed\n";
  if (report.waited() > Duration{})
    out +=
        "waited " + format_duration(report.waited()) +
        " until the cloud allowed more: `rate` and `quota` of the check file say what it allows\n";
  if (report.was_stopped) out += "the run was ended before all tests had run\n";
  out += "seed " + std::to_string(report.seed) + ": --reproduce " + std::to_string(report.seed) +
         " makes the same choices again\n";
  return out + "level: " + level_of(report) + "\n";
}

}  // namespace hostler::check
