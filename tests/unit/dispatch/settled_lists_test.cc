#include "tests/unit/dispatch/story.h"

/// Lists that say the same again and again, and what happens between two of them.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

/// A host at work, whose entry in the last lists told nothing new.
class SettledListsTest : public testing::Test {
 protected:
  void SetUp() override {
    story.begin();
    std::tie(job, on) = story.running();
    story.pass(1min);
    for (int n = 0; n < 3; ++n) story.list({story.seen(on)});
    story.clear();
  }

  Story story;
  WorkId job;
  InstanceId on;
};

TEST_F(SettledListsTest, AnAddressThatChangesIsSeen) {
  auto moved = story.seen(on);
  moved.address = "10.0.0.77";
  story.list({moved});
  EXPECT_EQ(story.record(on).address, "10.0.0.77");
}

TEST_F(SettledListsTest, AMachineThatTheCloudSaysFailedIsSeen) {
  story.list({story.seen(on, model::CloudState::kFailed)});
  EXPECT_THAT(story.ledger(), Contains(HasSubstr(on.text() + " contradicted")));
}

TEST_F(SettledListsTest, TagsThatDifferAfterAnAdminChangedThemAreRepaired) {
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  story.say(TagsEnded{on, {}});
  story.pass(1min);
  auto old = story.seen(on);
  old.idle = "run";
  story.clear();
  story.list({old});
  EXPECT_THAT(story.all<TagsCall>(), SizeIs(1));
}

TEST_F(SettledListsTest, AMachineThatListsOmitIsMissedAsOnceItWas) {
  story.list({});
  EXPECT_THAT(story.all<LookUpCall>(), SizeIs(1));
}

TEST_F(SettledListsTest, ASecondMachineOfItsCreateIsEnded) {
  auto twin = story.seen(on);
  twin.id = "i-0";
  story.list({story.seen(on), twin});
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("duplicate")));
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
}

TEST_F(SettledListsTest, ItsSpotRequestIsNoInstance) {
  auto fulfilled = story.seen(on);
  fulfilled.request_id = "sir-1";
  auto request = story.seen(on);
  request.id = "sir-1";
  request.state = model::CloudState::kRequested;
  request.idempotency_key.clear();
  for (int n = 0; n < 3; ++n) story.list({fulfilled});
  story.list({fulfilled, request});
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1));
}

TEST_F(SettledListsTest, ANoticeOfAnInterruptionIsSeen) {
  auto noticed = story.seen(on);
  noticed.interruption = story.now.wall + 2min;
  story.list({noticed});
  EXPECT_TRUE(story.record(on).interruption);
  story.list({story.seen(on)});
  EXPECT_FALSE(story.record(on).interruption);
}

}  // namespace
}  // namespace hostler::dispatch
