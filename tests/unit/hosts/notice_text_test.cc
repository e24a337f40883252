#include "core/hosts/notice_text.h"

#include <gtest/gtest.h>

#include "core/base/units.h"

namespace hostler::hosts {
namespace {

using model::InterruptionAction;

TEST(NoticeTextTest, NothingPrintedIsNoNotice) {
  EXPECT_EQ(read_notice("").action, InterruptionAction::kWithdrawn);
}

TEST(NoticeTextTest, TheWordsOfCloudsAreRead) {
  const auto ec2 = read_notice(R"({"action": "hibernate", "time": "2026-11-25T04:05:06Z"})");
  EXPECT_EQ(ec2.action, InterruptionAction::kSuspend);
  EXPECT_EQ(ec2.at, *parse_wall("2026-11-25T04:05:06Z"));
  const auto azure =
      read_notice(R"({"EventType":"Reboot","NotBefore":"2026-11-25T04:05:06.123+00:00"})");
  EXPECT_EQ(azure.action, InterruptionAction::kRestart);
  EXPECT_EQ(azure.at, *parse_wall("2026-11-25T04:05:06Z"));
  EXPECT_EQ(read_notice("TERMINATING, then stopped").action, InterruptionAction::kTerminate)
      << "the first word counts";
}

TEST(NoticeTextTest, AnyOtherTextIsANoticeWithoutATime) {
  for (const char* text : {"TRUE", "2026-11-25", "2026-13-45T99:99:99Z", "2026-11-25T04:05:06",
                           "2026-11-25T04:05:06+02:00", "999999999999999999999999", "{\"a\":"}) {
    const auto read = read_notice(text);
    EXPECT_EQ(read.action, InterruptionAction::kNotSaid) << text;
    EXPECT_EQ(read.at.us, 0) << text;
    EXPECT_EQ(read.text, text);
  }
}

}  // namespace
}  // namespace hostler::hosts
