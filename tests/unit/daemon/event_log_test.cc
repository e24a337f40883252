#include "core/daemon/event_log.h"

#include <gmock/gmock.h>

#include <algorithm>

/// The log shows what an admin may want to know without asking.
namespace hostler::daemon {
namespace {

using log::Level;
using model::Event;
using testing::HasSubstr;
using testing::Not;

model::LedgerRecord record(Event event, std::string code = {}, std::string reason = {}) {
  model::LedgerRecord out;
  out.actor = "host";
  out.subject = "h-7";
  out.event = event;
  out.reason_code = std::move(code);
  out.reason = std::move(reason);
  return out;
}

TEST(EventLogTest, EachSeverityGoesToALevelOfItsOwnAndDebugNowhere) {
  for (const auto& event : model::all_events()) {
    const auto line = line_of(record(event.event));
    switch (event.severity) {
      case model::Severity::kDebug:
        EXPECT_EQ(line, std::nullopt) << event.code;
        continue;
      case model::Severity::kInfo:
        ASSERT_TRUE(line) << event.code;
        EXPECT_EQ(line->level, Level::kInfo) << event.code;
        break;
      case model::Severity::kWarning:
        ASSERT_TRUE(line) << event.code;
        EXPECT_EQ(line->level, Level::kWarn) << event.code;
        break;
      case model::Severity::kAlarm:
        ASSERT_TRUE(line) << event.code;
        EXPECT_EQ(line->level, Level::kError) << event.code;
        break;
    }
  }
}

TEST(EventLogTest, ALineNamesSubjectEventCodeAndReason) {
  const auto line = line_of(record(Event::kTerminating, "killed", "by root: it is noisy"));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, "h-7 terminating [killed]: by root: it is noisy");
}

TEST(EventLogTest, AnEventWithoutAReasonIsExplainedByTheTable) {
  const auto line = line_of(record(Event::kReady));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, std::string("h-7 ready: ") + model::info(Event::kReady).sentence);
}

TEST(EventLogTest, ABootThatFailedAndAHostThatWasLostAreWarnings) {
  EXPECT_EQ(line_of(record(Event::kTerminating, "boot_timeout"))->level, Level::kWarn);
  EXPECT_EQ(line_of(record(Event::kGone, "vanished"))->level, Level::kWarn);
  EXPECT_EQ(line_of(record(Event::kUnreachable))->level, Level::kWarn);
  EXPECT_EQ(line_of(record(Event::kFailed, "exit")), std::nullopt);
  EXPECT_EQ(line_of(record(Event::kFailed, "host_lost"))->level, Level::kInfo);
}

TEST(EventLogTest, ARecordThatAnotherOneHasCausedIsLoggedOnlyIfItIsAnAlarm) {
  auto adopted = record(Event::kAdopted, "not_in_journal");
  ASSERT_TRUE(line_of(adopted));
  adopted.cause_rev = 7;
  EXPECT_FALSE(line_of(adopted));
  auto alarm = record(Event::kBroken);
  alarm.cause_rev = 7;
  EXPECT_TRUE(line_of(alarm));
}

TEST(EventLogTest, AHostCannotWriteALineOfItsOwnNorFillTheLog) {
  const auto line = line_of(
      record(Event::kBroken, "disk\nforged", "\x1b[2J\nforged" + std::string(1 << 20, 'x')));
  ASSERT_TRUE(line);
  EXPECT_LT(line->text.size(), 2000U);
  EXPECT_THAT(line->text, Not(HasSubstr("\n")));
  EXPECT_THAT(line->text, Not(HasSubstr("\x1b")));
}

TEST(EventLogTest, AlarmsAreCountedByTheirEvent) {
  metrics::Metrics metrics;
  write_events(lines_of({record(Event::kBroken), record(Event::kReady), model::GateOpened{"key"},
                         record(Event::kBroken)}),
               metrics);
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_alarms_total{event="broken"} 2)"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_alarms_total{event="duplicate"} 0)"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr(R"(event="ready")")));
}

TEST(EventLogTest, OfThousandsOfLinesAboutOneEventTheFirstAreWrittenAndACount) {
  metrics::Metrics metrics;
  std::vector<model::Change> changes(5000, record(Event::kBroken));
  changes.emplace_back(record(Event::kReady));
  testing::internal::CaptureStderr();
  write_events(lines_of(changes), metrics);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_LE(std::ranges::count(log, '\n'), 110);
  EXPECT_THAT(log, HasSubstr("4900 more broken"));
  EXPECT_THAT(log, HasSubstr("h-7 ready"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_alarms_total{event="broken"} 5000)"));
}

}  // namespace
}  // namespace hostler::daemon
