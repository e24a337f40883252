#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "sdk/check/report/report.h"
#include "sdk/check/rules.h"

namespace hostler::check {
namespace {

void put(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}

/// The findings of this kind, a line for each.
std::string lines_of(const TestOutcome& outcome, Finding::Kind kind) {
  std::string out;
  for (const auto& finding : outcome.findings) {
    if (finding.kind != kind) continue;
    const std::string advice(advice_for(finding.rule));
    out += text_of(finding) + (advice.empty() ? "" : "; do: " + advice) + others_of(finding) + "\n";
  }
  return out;
}

/// An element with the text of the first finding of this kind, and with all of them in it.
void add_findings(pugi::xml_node to, const char* element, const TestOutcome& outcome,
                  Finding::Kind kind) {
  const auto first = std::ranges::find(outcome.findings, kind, &Finding::kind);
  auto node = to.append_child(element);
  put(node, "message", first == outcome.findings.end() ? "" : text_of(*first));
  node.text().set(lines_of(outcome, kind).c_str());
}

void add_test(pugi::xml_node suite, const TestOutcome& one) {
  auto test = suite.append_child("testcase");
  put(test, "classname", "driver-check");
  put(test, "name", one.test.name);
  put(test, "time", std::to_string(one.seconds()));
  if (one.verdict == Verdict::kFailed) add_findings(test, "failure", one, Finding::Kind::kFail);
  if (one.verdict == Verdict::kSkipped) add_findings(test, "skipped", one, Finding::Kind::kSkip);
  // JUnit has no word for a warning.
  if (const auto warnings = lines_of(one, Finding::Kind::kWarning); !warnings.empty())
    test.append_child("system-out").text().set(("warnings:\n" + warnings).c_str());
}

std::string count_of(const RunReport& report, Verdict verdict) {
  return std::to_string(
      std::count_if(report.outcomes.begin(), report.outcomes.end(),
                    [&](const TestOutcome& one) { return one.verdict == verdict; }));
}

}  // namespace

std::string junit_of(const RunReport& report) {
  pugi::xml_document document;
  auto declaration = document.append_child(pugi::node_declaration);
  put(declaration, "version", "1.0");
  put(declaration, "encoding", "UTF-8");
  auto suite = document.append_child("testsuite");
  put(suite, "name", report.driver);
  put(suite, "tests", std::to_string(report.outcomes.size()));
  put(suite, "failures", count_of(report, Verdict::kFailed));
  put(suite, "skipped", count_of(report, Verdict::kSkipped));
  for (const auto& one : report.outcomes) add_test(suite, one);
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

}  // namespace hostler::check
