#include "core/json/writer.h"
#include "sdk/check/report/report.h"
#include "sdk/check/rules.h"

namespace hostler::check {
namespace {

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

void write_finding(json::Writer& w, const Finding& finding) {
  w.begin_object().member("kind", std::string(1, static_cast<char>(finding.kind)));
  if (!finding.rule.empty()) w.member("rule", finding.rule);
  if (!finding.call.empty()) w.member("call", finding.call);
  w.member("text", finding.text);
  if (const auto advice = advice_for(finding.rule); !advice.empty()) w.member("do", advice);
  w.end_object();
}

/// Text and attributes of XML. What XML 1.0 cannot hold has been made printable before.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// The text of the first finding of this kind, with all of them below.
std::string element_of(const TestOutcome& outcome, Finding::Kind kind, const char* element) {
  std::string first, all;
  for (const auto& finding : outcome.findings) {
    if (finding.kind != kind) continue;
    const std::string text = finding.rule + " " + finding.call + ": " + finding.text + "; " +
                             std::string(advice_for(finding.rule));
    if (first.empty()) first = finding.rule + " " + finding.call + ": " + finding.text;
    all += text + "\n";
  }
  return std::string("<") + element + " message=\"" + escaped(first) + "\">" + escaped(all) + "</" +
         element + ">";
}

}  // namespace

std::string json_of(const RunReport& report) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("driver", report.driver).member("level", level_of(report));
  w.member("seed", std::to_string(report.seed)).key("quirks").begin_object();
  for (const auto& [name, why] : report.quirks) w.member(name, why);
  w.end_object().key("tests").begin_array();
  for (const auto& one : report.outcomes) {
    w.begin_object().member("name", one.test.name).member("level", one.test.level);
    w.member("group", std::string(1, one.test.group)).member("verdict", word_of(one.verdict));
    w.member("seconds", seconds(one.took)).key("findings").begin_array();
    for (const auto& finding : one.findings) write_finding(w, finding);
    w.end_array().end_object();
  }
  w.end_array().end_object();
  return out + "\n";
}

std::string junit_of(const RunReport& report) {
  std::string cases;
  int failures = 0, skipped = 0;
  for (const auto& one : report.outcomes) {
    cases += "  <testcase classname=\"driver-check\" name=\"" + escaped(one.test.name) +
             "\" time=\"" + std::to_string(seconds(one.took)) + "\">";
    if (one.verdict == Verdict::kFailed)
      ++failures, cases += element_of(one, Finding::Kind::kFail, "failure");
    if (one.verdict == Verdict::kSkipped)
      ++skipped, cases += element_of(one, Finding::Kind::kSkip, "skipped");
    cases += "</testcase>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" + escaped(report.driver) +
         "\" tests=\"" + std::to_string(report.outcomes.size()) + "\" failures=\"" +
         std::to_string(failures) + "\" skipped=\"" + std::to_string(skipped) + "\">\n" + cases +
         "</testsuite>\n";
}

}  // namespace hostler::check
