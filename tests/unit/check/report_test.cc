#include <gmock/gmock.h>

#include <array>
#include <pugixml.hpp>

#include "core/json/document.h"
#include "sdk/check/host/rule_of_message.h"
#include "sdk/check/report/report.h"
#include "sdk/check/rules.h"

namespace hostler::check {
namespace {

using testing::HasSubstr;

TestOutcome outcome(int level, Verdict verdict, std::vector<Finding> findings = {}) {
  const Test test{"group.name", 'D', level, Needs::kNothing, "a promise", nullptr};
  return {test, verdict, std::move(findings), "", {}};
}

Finding no_cloud() { return {Finding::Kind::kSkip, std::string(kNoCloud), "", "no endpoint"}; }

RunReport report(std::vector<TestOutcome> outcomes) {
  RunReport out;
  out.outcomes = std::move(outcomes);
  return out;
}

TEST(ReportTest, ReachesTheLevelBelowTheFirstFailure) {
  EXPECT_EQ(level_of(report({outcome(0, Verdict::kPassed), outcome(1, Verdict::kWarned),
                             outcome(2, Verdict::kFailed)})),
            "L1");
  EXPECT_EQ(level_of(report({outcome(0, Verdict::kFailed), outcome(1, Verdict::kPassed)})), "none");
}

TEST(ReportTest, SaysWhatCouldNotBeTried) {
  EXPECT_EQ(level_of(report({outcome(0, Verdict::kPassed), outcome(1, Verdict::kPassed),
                             outcome(1, Verdict::kSkipped, {no_cloud()})})),
            "L1 (no endpoint)");
}

TEST(ReportTest, SaysThatThereWasNoRoomForMachines) {
  const Finding no_room{Finding::Kind::kSkip, std::string(kNoRoom), "", "the quota is used up"};
  auto one = report({outcome(0, Verdict::kPassed), outcome(0, Verdict::kSkipped, {no_room})});
  EXPECT_EQ(level_of(one), "L0 (no room)");
  one.outcomes.push_back(outcome(0, Verdict::kSkipped, {no_cloud()}));
  EXPECT_EQ(level_of(one), "L0 (no endpoint, no room)");
}

TEST(ReportTest, SaysHowLongItWaitedForTheCloud) {
  auto one = report({outcome(0, Verdict::kPassed), outcome(1, Verdict::kPassed)});
  EXPECT_THAT(summary_of(one), testing::Not(HasSubstr("waited")));
  for (auto& test : one.outcomes) test.waited = std::chrono::seconds(2);
  EXPECT_THAT(summary_of(one), testing::AllOf(HasSubstr("waited 4 s"), HasSubstr("`rate`")));
  EXPECT_THAT(json_of(one), HasSubstr(R"("waited_seconds":4)"));
}

TEST(ReportTest, DoesNotReachALevelOfWhichNothingRan) {
  EXPECT_EQ(
      level_of(report({outcome(0, Verdict::kPassed), outcome(1, Verdict::kSkipped, {no_cloud()})})),
      "L0");
}

TEST(ReportTest, SaysNoLevelOfSomeTests) {
  auto some = report({outcome(0, Verdict::kPassed)});
  some.is_partial = true;
  EXPECT_THAT(level_of(some), HasSubstr("not said"));
}

TEST(ReportTest, NamesRuleCallAndWhatToDo) {
  const auto line =
      line_of(outcome(1, Verdict::kFailed, {{Finding::Kind::kFail, "R28", "create", "no id"}}));
  EXPECT_THAT(line, HasSubstr("R28 create: no id"));
  EXPECT_THAT(line, HasSubstr("do: emit the instance"));
}

TEST(ReportTest, WritesJsonAndXmlThatCanBeReadWhateverTheDriverSays) {
  const std::string text = "a <b> & \"c\" \\ \u00e4";
  const auto one =
      report({outcome(1, Verdict::kFailed, {{Finding::Kind::kFail, "R22", "list", text}})});

  pugi::xml_document document;
  ASSERT_TRUE(json::Document::parse(json_of(one)));
  ASSERT_TRUE(document.load_string(junit_of(one).c_str()));
  const auto failure = document.child("testsuite").child("testcase").child("failure");
  EXPECT_EQ(failure.attribute("message").value(), "R22 list: " + text);
  EXPECT_THAT(failure.text().get(), HasSubstr(text));
}

TEST(ReportTest, KeepsTheMarkOfASkipToItself) {
  const auto one = report({outcome(1, Verdict::kSkipped, {no_cloud()})});

  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_of(one).c_str()));
  const auto skipped = document.child("testsuite").child("testcase").child("skipped");
  EXPECT_STREQ(skipped.attribute("message").value(), "no endpoint");
  EXPECT_THAT(json_of(one), HasSubstr(R"({"kind":"skip","text":"no endpoint"})"));
  EXPECT_THAT(line_of(one.outcomes.front()), HasSubstr("      skip  no endpoint\n"));
}

Finding warning(const std::string& text) {
  return {Finding::Kind::kWarning, "R44", "set_open", text};
}

/// Of tests "a", "b", ... with these warnings.
RunReport report_of(const std::vector<std::vector<Finding>>& found) {
  static constexpr std::array kNames{"a", "b", "c", "d", "e", "f", "g", "h"};
  RunReport out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto one = outcome(1, found[i].empty() ? Verdict::kPassed : Verdict::kWarned, found[i]);
    one.test.name = kNames.at(i);
    add_outcome(out, std::move(one));
  }
  return out;
}

TEST(ReportTest, SaysOneWarningForOneCauseAndInWhichTestsItWasSeen) {
  const auto one =
      report_of({{}, {warning("leaks")}, {warning("leaks"), warning("hangs")}, {warning("leaks")}});

  EXPECT_THAT(one.outcomes[1].findings.front().also_in, testing::ElementsAre("c", "d"));
  EXPECT_EQ(one.outcomes[2].findings.size(), 1U);
  EXPECT_EQ(one.outcomes[3].verdict, Verdict::kPassed);
  EXPECT_THAT(summary_of(one),
              HasSubstr("warning of b: R44 set_open: leaks; also in 2 tests: c, d\n"));
  EXPECT_THAT(summary_of(one), HasSubstr("2 passed, 2 with warnings"));
  EXPECT_THAT(json_of(one), HasSubstr(R"("also_in":["c","d"])"));
}

TEST(ReportTest, SaysWarningsInXmlToo) {
  const auto one = report_of({{warning("leaks")}, {warning("leaks")}});

  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_of(one).c_str()));
  const auto tests = document.child("testsuite").children("testcase");
  EXPECT_THAT(tests.begin()->child("system-out").text().get(),
              testing::AllOf(HasSubstr("R44 set_open: leaks"), HasSubstr("also in 1 test: b")));
  EXPECT_FALSE(std::next(tests.begin())->child("system-out"));
}

TEST(ReportTest, NamesAFewOfManyTests) {
  const auto one = report_of(std::vector<std::vector<Finding>>(8, {warning("leaks")}));

  EXPECT_THAT(summary_of(one), HasSubstr("also in 7 tests: b, c, d, e, f and 2 more\n"));
}

TEST(FindingsTest, SurviveWhateverTheDriverWrites) {
  Findings findings;
  findings.fail("R1", "call", "two\nlines\tand a tab");
  findings.fail_in_signal("R16", "create", "in a signal");
  for (int i = 0; i < 1000; ++i) findings.note(std::string(1000, 'x'));

  const auto all = findings.all();

  ASSERT_GE(all.size(), 2U);
  EXPECT_LE(all.size(), 200U);
  EXPECT_EQ(all[0].text, "two lines and a tab");
  EXPECT_EQ(all[1].rule, "R16");
  EXPECT_TRUE(findings.has_failed());
  EXPECT_FALSE(findings.finished());
}

TEST(RulesTest, AreFoundInMessagesOfTheHost) {
  EXPECT_EQ(rule_in("driver 'x': create: R28: no id")->first, "R28");
  EXPECT_EQ(rule_in("driver 'x': list: limit: too much")->second, "too much");
  EXPECT_FALSE(rule_in("driver 'x': list: ROUTE 66: none, R2D2: none"));
  EXPECT_FALSE(rule_in(""));
}

TEST(RulesTest, HaveAdvice) {
  for (const char* rule :
       {"R1", "R16", "R28", "config", "crash", "kit", "limit", "machine", "replay"})
    EXPECT_FALSE(advice_for(rule).empty()) << rule;
  EXPECT_TRUE(advice_for("R999").empty());
}

}  // namespace
}  // namespace hostler::check
