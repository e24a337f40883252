#include "core/pushed/pusher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace hostler::pushed {
namespace {

using namespace std::chrono_literals;

constexpr Mono kStart{1h};
constexpr Duration kMaxAge = 1min;

model::Push push(const std::string& session, std::uint64_t sequence) {
  return {.session = session,
          .sequence = sequence,
          .seen = 0,
          .agents = {},
          .tasks = {},
          .desired_new = {},
          .group_max = {}};
}

TEST(PusherTest, TheFirstPushBeginsASession) {
  Pusher pusher;
  const auto taken = pusher.take("token a", push("s1", 5), kStart, kMaxAge);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(*taken);
  EXPECT_EQ(pusher.record().principal, "token a");
  EXPECT_EQ(pusher.record().session, "s1");
}

TEST(PusherTest, ALowerOrEqualSequenceIsRefused) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 5), kStart, kMaxAge));
  EXPECT_FALSE(pusher.take("token a", push("s1", 5), kStart, kMaxAge));
  const auto late = pusher.take("token a", push("s1", 4), kStart, kMaxAge);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kConflict);
  EXPECT_NE(late.error().message.find("larger sequence"), std::string::npos);
  const auto next = pusher.take("token a", push("s1", 6), kStart, kMaxAge);
  ASSERT_TRUE(next);
  EXPECT_FALSE(*next);
}

TEST(PusherTest, AnotherPrincipalIsRefusedUntilTheTermEnds) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 1), kStart, kMaxAge));
  EXPECT_FALSE(pusher.take("token b", push("x", 1), kStart + kMaxAge - 1ns, kMaxAge));
  ASSERT_TRUE(pusher.take("token a", push("s1", 2), kStart + 30s, kMaxAge));
  EXPECT_FALSE(pusher.take("token b", push("x", 1), kStart + kMaxAge, kMaxAge));
  EXPECT_TRUE(pusher.take("token b", push("x", 1), kStart + 30s + kMaxAge, kMaxAge));
  EXPECT_FALSE(pusher.take("token a", push("s1", 3), kStart + 30s + kMaxAge, kMaxAge));
}

TEST(PusherTest, ANewSessionTakesOverAndTheOneBeforeIsSuperseded) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 9), kStart, kMaxAge));
  const auto taken = pusher.take("token a", push("s2", 1), kStart, kMaxAge);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(*taken);
  const auto old = pusher.take("token a", push("s1", 10), kStart, kMaxAge);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, Errc::kConflict);
  EXPECT_NE(old.error().message.find("superseded"), std::string::npos);
}

TEST(PusherTest, RemembersTheLastSixteenSupersededSessionsOverARestart) {
  Pusher pusher;
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(pusher.take("token a", push("s" + std::to_string(i), 1), kStart, kMaxAge));
  Pusher restarted(pusher.record(), kStart, kMaxAge);
  EXPECT_EQ(restarted.record().superseded.size(), model::kSupersededMax);
  EXPECT_FALSE(restarted.take("token a", push("s18", 2), kStart, kMaxAge));
  EXPECT_FALSE(restarted.take("token a", push("s3", 2), kStart, kMaxAge));
  EXPECT_TRUE(restarted.take("token a", push("s2", 2), kStart, kMaxAge));
}

TEST(PusherTest, ARestartBeginsTheTermAnewAndForgetsTheSequence) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 7), kStart, kMaxAge));
  Pusher restarted(pusher.record(), kStart + 1h, kMaxAge);
  EXPECT_FALSE(restarted.take("token b", push("x", 1), kStart + 1h, kMaxAge));
  const auto taken = restarted.take("token a", push("s1", 3), kStart + 1h, kMaxAge);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(*taken);
}

TEST(PusherTest, ASupersededSessionCannotComeBackWithAnySequenceOrAtAnyTime) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 9), kStart, kMaxAge));
  ASSERT_TRUE(pusher.take("token a", push("s2", 1), kStart, kMaxAge));
  EXPECT_FALSE(pusher.take("token a", push("s1", UINT64_MAX), kStart + 1h, kMaxAge));
  EXPECT_EQ(pusher.record().session, "s2");
}

TEST(PusherTest, AnotherPrincipalMayChooseTheNamesOfTheOneBefore) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 9), kStart, kMaxAge));
  ASSERT_TRUE(pusher.take("token a", push("s2", 1), kStart, kMaxAge));
  const auto taken = pusher.take("token b", push("s1", 1), kStart + kMaxAge, kMaxAge);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(*taken);
  EXPECT_TRUE(pusher.record().superseded.empty());
}

TEST(PusherTest, SequencesMayBeginAtZeroAlsoAfterARestart) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 0), kStart, kMaxAge));
  EXPECT_FALSE(pusher.take("token a", push("s1", 0), kStart, kMaxAge));
  Pusher restarted(pusher.record(), kStart, kMaxAge);
  EXPECT_TRUE(restarted.take("token a", push("s1", 0), kStart, kMaxAge));
}

TEST(PusherTest, RefusalsShowNoRawBytesOfNames) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("\x1b[2J", 1), kStart, kMaxAge));
  const auto again = pusher.take("token a", push("\x1b[2J", 1), kStart, kMaxAge);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message.find('\x1b'), std::string::npos);
}

TEST(PusherTest, ARefusedPushDoesNotLengthenTheTerm) {
  Pusher pusher;
  ASSERT_TRUE(pusher.take("token a", push("s1", 7), kStart, kMaxAge));
  EXPECT_FALSE(pusher.take("token a", push("s1", 7), kStart + 59s, kMaxAge));
  EXPECT_TRUE(pusher.take("token b", push("x", 1), kStart + kMaxAge, kMaxAge));
}

}  // namespace
}  // namespace hostler::pushed
