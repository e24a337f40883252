// Notices that clouds take hosts back, from each source: cordon, replacement, command, end of work.
#include <tuple>

#include "tests/unit/dispatch/interruption_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(InterruptionTest, AHostWithANoticeGetsNoNewJobsAndItsWorkIsReplacedBeforeItEnds) {
  const auto [id, on] = story.running(true);
  (void)watch();
  story.clear();
  notice(on, 2min);
  EXPECT_TRUE(view(on).cordoned);
  EXPECT_THAT(view(on).conditions, Contains(HasSubstr("it gets no new jobs")));
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1)) << "the replacement";
  const auto other = story.all<CreateCall>()[0].instance;
  story.boot(other);
  story.pass(30s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "one is enough, also once it is ready";
  EXPECT_NE(story.state(other), InstanceState::kTerminating) << "it waits for the job";
  EXPECT_THAT(story.ledger(), Not(Contains(other.text() + " terminating")));
}

TEST_F(InterruptionTest, ItsCommandRunsBesideTheJobOnceWithTheTimeThatIsLeft) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  const Wall at = story.now.wall + 2min;
  notice(on, 2min);
  notice(on, 2min);
  const auto told = story.commands<model::InterruptAttempt>();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].attempt, (model::AttemptId{id, 1}));
  EXPECT_GT(told[0].left, 119s);
  EXPECT_LE(told[0].left, 2min);
  EXPECT_EQ(told[0].at, at);
  EXPECT_THAT(story.ledger(), Contains(id.text() + " interruption_command"));
  EXPECT_EQ(count("interruption"), 1);
}

TEST_F(InterruptionTest, AHostThatConnectsAgainIsToldAgainOfTheSameNotice) {
  const auto [id, on] = story.running();
  (void)watch();
  notice(on, 2min);
  story.clear();
  story.host(on, model::HostLost{"reset", 0s});
  story.pass(10s);
  story.ready(on, {{{id, 1}, model::AttemptPhase::kRunning}});
  const auto told = story.commands<model::InterruptAttempt>();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_GT(told[0].left, 105s);
  EXPECT_LE(told[0].left, 110s);
  EXPECT_EQ(count("interruption_command"), 0) << "it was told before";
}

TEST_F(InterruptionTest, JustBeforeTheInterruptionARestartableJobIsEndedAndGoesOnElsewhere) {
  const auto [id, on] = story.running(true);
  (void)watch();
  notice(on, 2min);
  const auto other = story.all<CreateCall>().back().instance;
  ASSERT_NE(other, on);
  story.boot(other);
  story.clear();
  story.pass(116s);
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
  EXPECT_THAT(story.ledger(), Contains(id.text() + " interrupted"));
  // A job that handles TERM may even end well: it was not finished.
  story.exited(on, id, 1, 0);
  const auto starts = story.commands<model::StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].instance, other);
  EXPECT_EQ(story.record(id).starts, 1U) << "the first one does not count";
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kInterrupted);
}

TEST_F(InterruptionTest, AnEndThatIsToldAgainDoesNotCountAgain) {
  const auto [id, on] = story.running(true);
  (void)watch();
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold}));
  notice(on, 2min);
  story.pass(116s);
  story.exited(on, id, 1, 143);
  ASSERT_EQ(story.record(id).state, WorkState::kQueued);
  story.host(on, model::HostLost{"reset", 0s});
  story.clear();
  story.ready(on, {{{id, 1}, model::AttemptPhase::kEnded}});
  story.exited(on, id, 1, 143);
  EXPECT_THAT(story.ledger(), Not(Contains(id.text() + " found_again")));
  EXPECT_EQ(story.record(id).state, WorkState::kQueued);
  EXPECT_EQ(story.record(id).starts, 0U);
  EXPECT_THAT(story.commands<model::AckAttempt>(), Not(IsEmpty()));
}

/// A job whose host will be interrupted, in a pool that keeps idle hosts for 3 s only.
class ReplacementTest : public testing::Test {
 protected:
  ReplacementTest() : story(brief()) {
    story.begin();
    std::tie(job, first) = story.running(true);
    story.say(NoticesSeen{"west",
                          story.all<WatchCall>().back().number,
                          {{story.record(first).provider_id, "", story.now.wall + 2min,
                            InterruptionAction::kTerminate}}});
    story.pass(1s);
    other = story.all<CreateCall>().back().instance;
    story.boot(other);
    story.clear();
  }
  static model::SitePolicy brief() {
    auto site = small_site();
    site.pools[0].idle_timeout = 3s;
    return site;
  }
  void pass_in_seconds(int n) {
    for (int i = 0; i < n; ++i) story.pass(1s);
  }
  /// The job's attempt ends, killed, and the next one starts on the replacement.
  void expect_that_the_job_goes_on_there() {
    story.exited(first, job, 1, 143);
    story.pass(1s);
    const auto starts = story.commands<model::StartAttempt>();
    ASSERT_THAT(starts, SizeIs(1));
    EXPECT_EQ(starts[0].instance, other);
    EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr(other.text() + " terminating"))));
    EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  }

  Story story;
  WorkId job;
  InstanceId first, other;
};

TEST_F(ReplacementTest, IsKeptWhileTheAttemptIsBeingEnded) {
  pass_in_seconds(117);
  ASSERT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
  pass_in_seconds(6);  // Its host is slow.
  expect_that_the_job_goes_on_there();
}

TEST_F(ReplacementTest, IsKeptAlsoIfTheJobsHostIsLostMeanwhile) {
  pass_in_seconds(117);
  story.host(first, model::HostLost{"reset", 0s});
  pass_in_seconds(6);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr(other.text() + " terminating"))));
}

TEST_F(ReplacementTest, IsKeptWhileItsConnectionIsBrokenForAMoment) {
  pass_in_seconds(60);
  story.host(other, model::HostLost{"reset", 0s});
  pass_in_seconds(5);
  story.ready(other);
  pass_in_seconds(5);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr(other.text() + " terminating"))));
}

TEST_F(InterruptionTest, AJobThatMayNotRunTwiceIsNotEnded) {
  const auto [id, on] = story.running(false);
  (void)watch();
  story.clear();
  notice(on, 2min);
  story.pass(119s);
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "nothing of it will wait again";
  story.exited(on, id);
  EXPECT_EQ(story.record(id).state, WorkState::kSucceeded);
}

TEST_F(InterruptionTest, AnAttemptThatWentWithItsHostDoesNotCount) {
  const auto [id, on] = running_the_last_attempt();
  notice(on, 0s);
  story.host(on, model::HostLost{"reset", 0s});
  for (int i = 0; i < 12 && story.state(on) != InstanceState::kVanished; ++i) {
    story.pass(30s);
    story.list({});
  }
  ASSERT_EQ(story.state(on), InstanceState::kVanished);
  EXPECT_EQ(story.record(id).state, WorkState::kQueued);
  EXPECT_EQ(story.record(id).starts, 0U);
}

TEST_F(InterruptionTest, AWithdrawalUndoesTheCordon) {
  const auto [id, on] = story.running();
  (void)watch();
  notice(on, 2min);
  (void)story.submit({story.job(1)});
  story.clear();
  notice(on, 0s, InterruptionAction::kWithdrawn);
  EXPECT_FALSE(view(on).cordoned);
  story.exited(on, id);
  EXPECT_EQ(count("interruption_over"), 1);
  EXPECT_THAT(story.commands<model::StartAttempt>(),
              Contains(Field(&model::StartAttempt::instance, on)));
}

TEST_F(InterruptionTest, NoticesThatAreGivenAndWithdrawnWithoutEndDoNotFillTheLedger) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  for (int i = 0; i < 100; ++i) {
    notice(on, 2min);
    notice(on, 0s, InterruptionAction::kWithdrawn);
  }
  EXPECT_FALSE(view(on).cordoned);
  EXPECT_LE(story.ledger().size(), 60U);
  notice(on, 2min);
  EXPECT_TRUE(view(on).cordoned) << "it counts, whether an event says so or not";
}

TEST_F(InterruptionTest, OneSourceDoesNotWithdrawWhatAnotherHasSaid) {
  const auto [id, on] = story.running();
  (void)watch();
  notice(on, 2min);
  auto seen = story.seen(on);
  seen.interruption = story.now.wall + 2min;
  story.list({seen});
  EXPECT_EQ(count("interruption"), 1);
  notice(on, 0s, InterruptionAction::kWithdrawn);
  EXPECT_TRUE(view(on).cordoned);
  seen.interruption = {};
  story.list({seen});
  EXPECT_FALSE(view(on).cordoned);
}

TEST_F(InterruptionTest, ACheckOnTheHostIsASource) {
  const auto [id, on] = story.running();
  story.clear();
  story.host(on, model::HostInterruption{"{\"action\":\"stop\"}", story.now.wall + 1min,
                                         InterruptionAction::kStop});
  ASSERT_TRUE(view(on).record.interruption);
  EXPECT_EQ(view(on).record.interruption->source, model::NoticeSource::kHost);
  story.host(on, model::HostInterruption{"", {}, InterruptionAction::kWithdrawn});
  EXPECT_FALSE(view(on).record.interruption);
}

TEST_F(InterruptionTest, AnInterruptionThatIsFarAwayIsToldAtOnceAndCordonsLater) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  notice(on, 1h, InterruptionAction::kRestart);
  EXPECT_FALSE(view(on).cordoned);
  EXPECT_EQ(count("interruption"), 1);
  for (int i = 0; i < 49; ++i) story.pass(1min);
  EXPECT_FALSE(view(on).cordoned);
  story.pass(1min);
  EXPECT_TRUE(view(on).cordoned);
  EXPECT_EQ(count("cordoned"), 1);
}

TEST_F(InterruptionTest, ANoticeOfLongAgoOrOfADistantFutureIsNone) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  notice(on, -11min);
  notice(on, 24h * 400);
  EXPECT_FALSE(view(on).record.interruption);
  EXPECT_EQ(count("interruption"), 0);
  notice(on, -1min);
  EXPECT_TRUE(view(on).cordoned) << "one that has just passed may still happen";
}

TEST_F(InterruptionTest, AHostThatIsStillThereLongAfterItsInterruptionGetsJobsAgain) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  notice(on, 2min);
  for (int i = 0; i < 12; ++i) story.pass(1min);
  EXPECT_FALSE(view(on).cordoned);
  EXPECT_EQ(count("interruption_over"), 1);
  notice(on, -10min - 1s);
  EXPECT_FALSE(view(on).cordoned) << "the same again, which is past";
}

TEST_F(InterruptionTest, ARestartThatWasAnnouncedEndsItsNoticeAndCostsNoTry) {
  const auto [id, on] = running_the_last_attempt();
  notice(on, 30s, InterruptionAction::kRestart);
  story.host(on, model::HostLost{"reset", 0s});
  story.pass(10s);
  story.ready(on, {}, "boot-2");
  story.pass(1s);
  EXPECT_FALSE(view(on).record.interruption);
  EXPECT_EQ(story.record(id).starts, story.record(id).state == WorkState::kQueued ? 0U : 1U);
  EXPECT_NE(story.record(id).state, WorkState::kFailed);
}

TEST_F(InterruptionTest, NoticesOfInstancesThatTheSetDoesNotHaveAreCountedAndToldOnce) {
  const auto [id, on] = story.running();
  (void)watch();
  story.clear();
  tell({notice_of("i-of-another-site", 2min), notice_of("", 2min)});
  tell({notice_of("i-of-another-site", 3min)});
  EXPECT_FALSE(view(on).record.interruption);
  EXPECT_EQ(count("notices_ignored"), 1);
  EXPECT_EQ(story.dispatcher.queries().sets(story.now)[0].watch->ignored, 3U);
}

TEST_F(InterruptionTest, ThousandsOfNoticesAtOnceAreTakenAndReplacedWithinTheCeiling) {
  auto site = small_site();
  site.pools[0].sizes.max = 6;
  Story many(site);
  many.begin();
  std::vector<model::WorkItem> jobs(4, many.job(2, true));
  (void)many.submit(jobs);
  std::vector<model::Interruption> notices;
  const auto creates = many.all<CreateCall>();
  for (const auto& call : creates) many.boot(call.instance);
  for (const auto& call : creates)
    for (int i = 0; i < 1000; ++i)
      notices.push_back({many.record(call.instance).provider_id, "", many.now.wall + 2min,
                         InterruptionAction::kTerminate});
  const auto watch = many.all<WatchCall>().back().number;
  many.clear();
  many.say(NoticesSeen{"west", watch, notices});
  many.pass(20s);
  EXPECT_LE(many.all<CreateCall>().size(), 6 - creates.size());
  const auto events = many.ledger();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(
                events, [](const auto& one) { return is_of(one, "interruption"); })),
            creates.size());
}

TEST_F(InterruptionTest, ARestartOfTheDaemonKeepsTheNotice) {
  const auto [id, on] = story.running();
  (void)watch();
  notice(on, 5min);
  model::Restored restored;
  restored.owner = "owner", restored.epoch = 2;
  restored.last_instance = on.value;
  restored.instances.push_back({story.record(on), nullptr, false});
  Story after;
  after.now = story.now;
  after.restore(restored);
  after.pass(1s);
  EXPECT_TRUE(after.dispatcher.queries().instance(on, after.now)->cordoned);
  EXPECT_THAT(after.ledger(), Not(Contains(HasSubstr(" interruption "))));
}

TEST_F(InterruptionTest, NoReplacementIsBoughtThatThePriceLimitOfItsPrincipalDoesNotAllow) {
  auto site = small_site();
  site.types[0].price_per_hour = {200'000};
  site.pools[0].types = {"small"};
  auto& limit = site.quotas.principals["user ann"].running_price_per_hour_max;
  limit = model::Micros{300'000};
  Story limited(site);
  limited.begin();
  const auto [id, on] = limited.running(true);
  const auto watch = limited.all<WatchCall>().back().number;
  site.types[0].price_per_hour = {600'000};
  limited.say(PolicyChanged{site});
  limited.clear();
  limited.say(NoticesSeen{"west",
                          watch,
                          {{limited.record(on).provider_id, "", limited.now.wall + 5min,
                            InterruptionAction::kTerminate}}});
  limited.pass(20s);
  EXPECT_THAT(limited.all<CreateCall>(), IsEmpty()) << "its part would cost 0.3 at least";
  limit = model::Micros{600'000};
  limited.say(PolicyChanged{site});
  limited.pass(20s);
  EXPECT_THAT(limited.all<CreateCall>(), SizeIs(1));
}

// ---- the watch ---------------------------------------------------------------------------------

TEST_F(InterruptionTest, AnAccountThatMayNotWatchMayStillCreate) {
  story.say(WatchEnded{"west", watch(), error(CloudErrorClass::kAuth)});
  (void)story.submit({story.job(1)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

}  // namespace
}  // namespace hostler::dispatch
