#include "tests/unit/dispatch/story.h"

/// Hosts that their cloud lists as stopped while work is on them.
namespace hostler::dispatch {
namespace {

using model::CloudState;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

class StoppedHostsTest : public testing::Test {
 protected:
  /// A job on a host whose connection was lost.
  void lose(bool restartable, model::SitePolicy site = small_site(), bool has_power = false) {
    story = Story(std::move(site));
    story.restore();
    model::SetInfo info;
    info.list_consistency = 100ms;
    info.stop = info.has_power = has_power;
    story.say(SetOpened{"west", info});
    std::tie(job, on) = story.running(restartable);
    story.host(on, model::HostLost{"reset"});
    ASSERT_EQ(story.record(job).state, WorkState::kRunning);
  }
  void list(CloudState state) { story.list({story.seen(on, state)}); }

  Story story;
  WorkId job;
  InstanceId on;
};

TEST_F(StoppedHostsTest, TwoListsLoseTheWorkAndThePlanEndsTheHost) {
  for (const auto state : {CloudState::kStopped, CloudState::kSuspended}) {
    lose(true);
    list(state);
    EXPECT_EQ(story.record(job).state, WorkState::kRunning) << "one list may be false";
    list(state);
    EXPECT_NE(story.record(job).state, WorkState::kRunning);
    EXPECT_THAT(story.ledger(), Contains(on.text() + " stopped cloud_stopped"));
    EXPECT_THAT(story.ledger(), Contains(HasSubstr(job.text() + " queued_again")));
    EXPECT_EQ(story.state(on), InstanceState::kTerminating);
    EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  }
}

TEST_F(StoppedHostsTest, AJobThatMayNotRunAgainFailsAndSaysWhy) {
  lose(false);
  list(CloudState::kStopped);
  list(CloudState::kStopped);
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
  EXPECT_EQ(story.record(job).reason, model::EndReason::kHostLost);
  EXPECT_THAT(story.record(job).reason_text,
              HasSubstr("two lists show it stopped, and its host does not answer"));
}

TEST_F(StoppedHostsTest, AHeldHostLosesItsWorkAndStays) {
  lose(true);
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold}));
  list(CloudState::kStopped);
  list(CloudState::kStopped);
  EXPECT_EQ(story.state(on), InstanceState::kStopped);
  EXPECT_NE(story.record(job).state, WorkState::kRunning);
}

TEST_F(StoppedHostsTest, AnAttemptThatIsFoundThereLaterGoesOnIfItsJobStillWaits) {
  auto site = small_site();
  site.pools[0].sizes.max = site.pools[0].sizes.stopped = 1;
  lose(true, site, /*has_power=*/true);
  story.clear();
  list(CloudState::kSuspended);
  list(CloudState::kSuspended);
  ASSERT_EQ(story.record(job).state, WorkState::kQueued);
  ASSERT_EQ(story.state(on), InstanceState::kBooting) << "it is woken for the job";
  story.say(PowerEnded{on, {}});
  list(CloudState::kRunning);
  story.ready(
      on, {{{job, 1}, model::AttemptPhase::kRunning}, {{{9}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_THAT(story.ledger(), Contains(job.text() + " found_again"));
  EXPECT_EQ(story.record(job).attempt, 1U);
  const auto killed = story.commands<model::KillAttempt>();
  ASSERT_THAT(killed, SizeIs(1)) << "others are ended";
  EXPECT_EQ(killed[0].attempt.work, WorkId{9});
}

// Bug: it was switched on for the job, and ended as soon as it was ready.
TEST_F(StoppedHostsTest, ABrokenHostIsEndedAndNotSwitchedOnAgain) {
  auto site = small_site();
  site.pools[0].sizes.max = site.pools[0].sizes.stopped = 1;
  lose(true, site, /*has_power=*/true);
  story.host(on, model::HostBroken{"disk", "full"});
  story.clear();
  list(CloudState::kStopped);
  list(CloudState::kStopped);
  ASSERT_EQ(story.record(job).state, WorkState::kQueued);
  EXPECT_THAT(story.all<PowerCall>(), testing::IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

TEST_F(StoppedHostsTest, AHeldHostOfACloudWithoutPowerIsNeitherSwitchedNorEnded) {
  for (const bool has_power : {false, true}) {
    lose(false, small_site(), has_power);
    ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold}));
    list(CloudState::kStopped);
    list(CloudState::kStopped);
    ASSERT_EQ(story.state(on), InstanceState::kStopped);
    story.clear();
    list(CloudState::kRunning);
    EXPECT_THAT(story.all<PowerCall>(), SizeIs(has_power ? 1 : 0));
    EXPECT_EQ(story.state(on), InstanceState::kStopped);
  }
}

TEST_F(StoppedHostsTest, OneThatIsFailedLosesItsWorkWithItsMachine) {
  lose(true);
  list(CloudState::kFailed);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kCloudFailed);
}

}  // namespace
}  // namespace hostler::dispatch
