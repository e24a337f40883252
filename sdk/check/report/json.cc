#include "core/json/writer.h"
#include "sdk/check/report/report.h"
#include "sdk/check/rules.h"

namespace hostler::check {
namespace {

void write_finding(json::Writer& w, const Finding& finding) {
  w.begin_object().member("kind", word_of(finding.kind));
  if (!finding.rule.empty() && finding.kind != Finding::Kind::kSkip) w.member("rule", finding.rule);
  if (!finding.call.empty()) w.member("call", finding.call);
  w.member("text", finding.text);
  if (const auto advice = advice_for(finding.rule); !advice.empty()) w.member("do", advice);
  if (!finding.also_in.empty()) {
    w.key("also_in").begin_array();
    for (const auto& name : finding.also_in) w.value(name);
    w.end_array();
  }
  w.end_object();
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
    w.member("seconds", one.seconds()).key("findings").begin_array();
    for (const auto& finding : one.findings) write_finding(w, finding);
    w.end_array().end_object();
  }
  w.end_array().member("waited_seconds", std::chrono::duration<double>(report.waited()).count());
  w.end_object();
  return out + "\n";
}

}  // namespace hostler::check
