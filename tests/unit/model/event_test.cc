#include "core/model/event.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

/// The tables of events and reasons: codes are stored and shown, so each has one meaning for ever.
namespace hostler::model {
namespace {

bool is_code(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c == '_' || ('a' <= c && c <= 'z'); });
}

TEST(EventTest, EachCodeIsReadBackAsItsEvent) {
  std::set<std::string> codes;
  for (const EventInfo& one : all_events()) {
    EXPECT_TRUE(is_code(one.code)) << one.code;
    EXPECT_TRUE(codes.insert(one.code).second) << one.code;
    EXPECT_EQ(parse_event(one.code), one.event) << one.code;
    EXPECT_STREQ(to_string(one.event), one.code);
  }
}

TEST(EventTest, EachHasASentenceWithoutAFullStop) {
  for (const EventInfo& one : all_events()) {
    const std::string_view sentence = one.sentence;
    EXPECT_FALSE(sentence.empty() || sentence.ends_with('.')) << one.code;
  }
  for (const ReasonInfo& one : all_reasons()) {
    const std::string_view sentence = one.sentence;
    EXPECT_FALSE(sentence.empty() || sentence.ends_with('.')) << one.code;
  }
}

TEST(EventTest, ACodeOfAnotherVersionIsNoEvent) {
  EXPECT_EQ(parse_event("teleported"), std::nullopt);
  EXPECT_EQ(parse_event("unknown"), std::nullopt) << "it is never written";
  EXPECT_EQ(parse_event(""), std::nullopt);
}

TEST(ReasonTest, EachCodeIsReadBackAsItsReason) {
  std::set<std::string> codes;
  for (const ReasonInfo& one : all_reasons()) {
    EXPECT_TRUE(is_code(one.code)) << one.code;
    EXPECT_TRUE(codes.insert(one.code).second) << one.code;
    if (one.reason == Reason::kNone)
      EXPECT_EQ(parse_reason(one.code), std::nullopt) << "no instance is " << one.code;
    else
      EXPECT_EQ(parse_reason(one.code), one.reason) << one.code;
  }
  EXPECT_EQ(parse_reason(""), Reason::kNone);
  EXPECT_EQ(parse_reason("teleported"), std::nullopt);
}

TEST(ReasonTest, EveryEndOfWorkAndEveryErrorOfACloudIsAReason) {
  EXPECT_STREQ(to_string(EndReason::kNone), "");
  for (int i = 1; i <= static_cast<int>(EndReason::kInterrupted); ++i) {
    const auto end = static_cast<EndReason>(i);
    ASSERT_NE(find_reason(to_string(end)), nullptr) << i;
    EXPECT_EQ(find_reason(to_string(end))->end, end) << i;
  }
  for (int i = 0; i < kCloudErrorClasses; ++i) {
    const auto cls = static_cast<CloudErrorClass>(i);
    EXPECT_EQ(parse_reason(to_string(cls)), reason_of(cls)) << i;
    EXPECT_NE(reason_of(cls), Reason::kUnknown) << i;
  }
}

TEST(SeverityTest, AReasonRaisesTheSeverityOfItsEventAndNeverLowersIt) {
  EXPECT_EQ(severity_of(Event::kTerminating, "idle"), Severity::kInfo);
  EXPECT_EQ(severity_of(Event::kTerminating, "boot_timeout"), Severity::kWarning);
  EXPECT_EQ(severity_of(Event::kFailed, "exit"), Severity::kDebug);
  EXPECT_EQ(severity_of(Event::kFailed, "host_lost"), Severity::kInfo);
  EXPECT_EQ(severity_of(Event::kEnding, "host_lost"), Severity::kInfo);
  EXPECT_EQ(severity_of(Event::kCreateRefused, "capacity"), Severity::kWarning);
  EXPECT_EQ(severity_of(Event::kTerminating, "of another version"), Severity::kInfo);
}

TEST(SeverityTest, DataThatReadsLikeAReasonIsNone) {
  EXPECT_EQ(severity_of(Event::kCreateIntended, "boot_timeout"), Severity::kInfo) << "a type";
}

}  // namespace
}  // namespace hostler::model
