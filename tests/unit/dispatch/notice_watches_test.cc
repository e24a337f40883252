// The call of a driver by which a set is watched for notices.
#include "tests/unit/dispatch/interruption_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class NoticeWatchTest : public InterruptionTest {};

TEST_F(NoticeWatchTest, AWatchThatEndsIsMadeAgainAtOnceAndOneThatFailsLaterEachTime) {
  const auto first = watch();
  ASSERT_NE(first, 0U);
  story.pass(5min);
  story.clear();
  story.say(WatchEnded{"west", first, {}});
  story.pass(0s);
  ASSERT_THAT(story.all<WatchCall>(), SizeIs(1));
  const auto second = watch();
  story.clear();
  story.say(WatchEnded{"west", second, error(CloudErrorClass::kTransient)});
  story.pass(4s);
  EXPECT_THAT(story.all<WatchCall>(), IsEmpty());
  EXPECT_EQ(count("watch_failed"), 1);
  for (int i = 0; i < 120; ++i) story.pass(1s);
  EXPECT_THAT(story.all<WatchCall>(), SizeIs(1));
}

TEST_F(NoticeWatchTest, AWatchThatIsRefusedIsMadeAgainWhenTheCloudSays) {
  auto busy = error(CloudErrorClass::kTransient);
  busy.retry_after = 8min;
  const auto first = watch();
  story.clear();
  story.say(WatchEnded{"west", first, busy});
  for (int i = 0; i < 47; ++i) story.pass(10s);
  EXPECT_THAT(story.all<WatchCall>(), IsEmpty());
  story.pass(10s);
  EXPECT_THAT(story.all<WatchCall>(), SizeIs(1));
}

TEST_F(NoticeWatchTest, AWatchThatEndsAtOnceIsNotMadeAgainAndAgain) {
  const auto first = watch();
  story.clear();
  story.say(WatchEnded{"west", first, {}});
  story.pass(0s);
  EXPECT_THAT(story.all<WatchCall>(), IsEmpty());
  story.pass(5s);
  EXPECT_THAT(story.all<WatchCall>(), SizeIs(1));
}

TEST_F(NoticeWatchTest, ADriverWithoutAWatchIsNotAskedAgainAndThatIsNoFault) {
  const auto first = watch();
  story.clear();
  story.say(WatchEnded{"west", first, error(CloudErrorClass::kUnsupported)});
  for (int i = 0; i < 20; ++i) story.pass(1min);
  EXPECT_THAT(story.all<WatchCall>(), IsEmpty());
  EXPECT_EQ(count("watch_failed"), 0);
  EXPECT_FALSE(story.dispatcher.queries().sets(story.now)[0].watch);
}

TEST_F(NoticeWatchTest, AWatchThatAGateHoldsBackIsMadeWhenAUserOpensTheGate) {
  const auto first = watch();
  story.say(WatchEnded{"west", first, error(CloudErrorClass::kAuth)});
  for (int i = 0; i < 20; ++i) story.pass(1s);
  story.clear();
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));
  EXPECT_TRUE(story.ask(OpenGate{0, "user root", gates[0].key}));
  story.pass(0s);
  EXPECT_THAT(story.all<WatchCall>(), SizeIs(1));
}

TEST_F(NoticeWatchTest, TheFirstWatchOfAnotherDriverLeavesAfterThatDriverIsInUse) {
  (void)watch();
  story.clear();
  story.say(SuccessorOpened{"west", model::SetInfo{}, 2});
  story.pass(0s);
  ASSERT_THAT(story.all<UseDriver>(), SizeIs(1));
  ASSERT_THAT(story.all<WatchCall>(), SizeIs(1));
  EXPECT_TRUE(story.all<WatchCall>()[0].after_commit);
  const auto second = watch();
  story.pass(5min);
  story.clear();
  story.say(WatchEnded{"west", second, {}});
  ASSERT_THAT(story.all<WatchCall>(), SizeIs(1));
  EXPECT_FALSE(story.all<WatchCall>()[0].after_commit);
}

TEST_F(NoticeWatchTest, WhatAnEarlierWatchSaysIsOfNoInterest) {
  const auto [id, on] = story.running();
  const auto first = watch();
  story.say(WatchEnded{"west", first, error(CloudErrorClass::kTransient)});
  story.say(NoticesSeen{"west", first, {notice_of(story.record(on).provider_id, 2min)}});
  EXPECT_FALSE(view(on).record.interruption);
}

}  // namespace
}  // namespace hostler::dispatch
