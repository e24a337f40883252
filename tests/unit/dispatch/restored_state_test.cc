#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// A start with --restored: nobody knows what happened since the backup was made.
namespace hostler::dispatch {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Seen: with --restored, jobs that had waited ran a second time.
TEST(RestoredStateTest, AHeldJobDoesNotStartAndBuysNothing) {
  Story story;
  story.begin(waiting_site());
  story.ready({7});
  story.pass(1min);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.ledger(), Contains("j-5 held"));
  const auto queries = story.dispatcher.queries();
  const auto waiting = queries.waiting(WorkId{5});
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->code, model::WaitingCode::kHeld);
  EXPECT_THAT(waiting->reason, HasSubstr("it waited"));
  EXPECT_THAT(waiting->reason, HasSubstr("hostler release"));
  EXPECT_EQ(queries.totals(story.now.mono).jobs, (model::Totals{}.jobs = {0, 0, 0, 0, 1}));
  EXPECT_EQ(queries.quota("user ann", story.now.mono).jobs_waiting, 0U);
  EXPECT_FALSE(queries.at_rest());
}

TEST(RestoredStateTest, AReleasedJobStarts) {
  Story story;
  story.begin(waiting_site());
  story.ready({7});
  EXPECT_FALSE(story.ask(ReleaseWork{0, "root", WorkId{99}}));
  const auto released = story.ask(ReleaseWork{0, "root", std::nullopt});
  ASSERT_TRUE(released);
  EXPECT_THAT(*released, ElementsAre(WorkId{5}));
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kStarting);
  EXPECT_FALSE(story.record(WorkId{5}).restored);
  EXPECT_EQ(story.record(WorkId{5}).attempt, 1001U) << "lower ones may have begun since";
  EXPECT_FALSE(story.ask(ReleaseWork{0, "root", WorkId{5}})) << "it is not held any more";
}

// Bug: a restart after the release forgot it, and the attempt was given a number that may be used.
TEST(RestoredStateTest, AReleasedJobKeepsItsNumbersApartOverARestart) {
  auto site = waiting_site();
  site.work[0].record.state = WorkState::kQueued;
  Story story;
  story.begin(site);
  story.ready({7});
  EXPECT_EQ(story.record(WorkId{5}).attempt, 1001U);
}

TEST(RestoredStateTest, HeldJobsAreCancelledTogetherOrByTheirOwner) {
  Story all;
  all.begin(waiting_site());
  EXPECT_THAT(*all.ask(CancelHeld{0, "root"}), ElementsAre(WorkId{5}));
  EXPECT_EQ(all.record(WorkId{5}).state, WorkState::kCancelled);
  Story one;
  one.begin(waiting_site());
  EXPECT_FALSE(one.ask(CancelWork{0, "user bob", false, {5}}));
  EXPECT_TRUE(one.ask(CancelWork{0, "user ann", false, {5}}));
  EXPECT_EQ(one.record(WorkId{5}).state, WorkState::kCancelled);
}

TEST(RestoredStateTest, ARunningJobGoesOnIfItsHostKnowsIt) {
  Story story;
  story.begin(running_site(true));
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  story.exited({7}, {5});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
}

TEST(RestoredStateTest, ARestartableJobThatItsHostDoesNotKnowIsHeldAndNotStartedAgain) {
  Story story;
  story.begin(running_site(true));
  story.ready({7});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kHeld);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  ASSERT_TRUE(story.ask(ReleaseWork{0, "root", WorkId{5}}));
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST(RestoredStateTest, AnotherJobThatItsHostDoesNotKnowSaysThatItMayHaveEndedSince) {
  Story story;
  story.begin(running_site(false));
  story.ready({7});
  EXPECT_EQ(story.record(WorkId{5}).reason, EndReason::kHostLost);
  EXPECT_THAT(story.record(WorkId{5}).reason_text, HasSubstr("may have ended after the backup"));
}

// Seen: work that began after the backup was ended on its host.
TEST(RestoredStateTest, AnAttemptOfAJobThatIsNotKnownIsTakenOver) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kForeign, 2}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  const auto resumed = story.commands<model::ResumeAttempts>();
  ASSERT_THAT(resumed, SizeIs(1));
  EXPECT_THAT(resumed[0].attempts, ElementsAre(AttemptId{kForeign, 2}));
  const auto made = story.journalled<model::WorkItem>();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(made[0].principal, "unknown (restored)");
  EXPECT_EQ(story.record(kForeign).state, WorkState::kRunning);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
  EXPECT_FALSE(story.record(InstanceId{7}).restored) << "its work is known now";

  story.exited({7}, kForeign, 2);
  EXPECT_EQ(story.record(kForeign).state, WorkState::kSucceeded);
  story.clear();
  story.ready({7}, {{{kForeign, 2}, AttemptPhase::kEnded}});
  EXPECT_THAT(story.journalled<model::WorkItem>(), IsEmpty()) << "it is taken over once";
}

TEST(RestoredStateTest, NothingElseIsPlacedBesideWorkWhoseNeedsAreNotKnown) {
  auto site = waiting_site();
  site.instances[0].record.total = small_site().types[0].resources;
  Story story;
  story.begin(site);
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kRunning}});
  story.submit({story.job()});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
}

TEST(RestoredStateTest, AnAttemptThatHasEndedSinceIsTakenOverWithItsOutput) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(story.commands<model::AckAttempt>(), IsEmpty());
  story.exited({7}, kForeign);
  EXPECT_EQ(story.record(kForeign).state, WorkState::kSucceeded);
}

TEST(RestoredStateTest, AnAttemptThatEndedWithItsBootIsShownAsLost) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kUnknownEnd}});
  EXPECT_EQ(story.record(kForeign).reason, EndReason::kHostLost);
}

// Bug: an older attempt that is dead ended the job, and the running one was not taken over.
TEST(RestoredStateTest, OfTwoAttemptsOfAHostTheNewestIsTakenOver) {
  Story story;
  story.begin(waiting_site());
  story.ready(
      {7}, {{{kForeign, 1}, AttemptPhase::kUnknownEnd}, {{kForeign, 2}, AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(kForeign).state, WorkState::kRunning);
  EXPECT_EQ(story.record(kForeign).attempt, 2U);
  story.exited({7}, kForeign, 2);
  EXPECT_EQ(story.record(kForeign).state, WorkState::kSucceeded);
}

TEST(RestoredStateTest, ADeadAttemptIsTakenOverOnceAllHostsHaveReported) {
  for (const bool runs_elsewhere : {true, false}) {
    auto site = waiting_site();
    site.instances.push_back(second_host());
    Story story;
    story.begin(site);
    const auto lists = [&] { story.list({story.seen({7}), story.seen({6})}); };
    story.ready({6}, {{{kForeign, 1}, AttemptPhase::kUnknownEnd}}, "boot-6");
    lists();
    EXPECT_EQ(story.record(kForeign).id, WorkId{}) << "h-7 has not reported";
    EXPECT_THAT(story.ledger(), Not(Contains("h-6 unknown_numbers")));
    if (runs_elsewhere) {
      story.ready({7}, {{{kForeign, 2}, AttemptPhase::kRunning}});
      lists();
      EXPECT_EQ(story.record(kForeign).state, WorkState::kRunning);
    } else {
      story.ready({7});
      lists();
      EXPECT_EQ(story.record(kForeign).reason, EndReason::kHostLost);
    }
    EXPECT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
    EXPECT_EQ(story.state({6}), InstanceState::kIdle);
  }
}

// Bug: it was waited for, for ever.
TEST(RestoredStateTest, AHostWithoutAnAgentIsNotWaitedForAsItNeverReports) {
  auto policy = small_site();
  auto lent = policy.pools[0];
  lent.name = "lent";
  lent.readiness = model::Readiness::kSsh;
  lent.leases.emplace();
  policy.pools.push_back(lent);
  auto site = waiting_site();
  site.instances.push_back(second_host());
  site.instances[1].record.pool = "lent";
  Story story(policy);
  story.begin(site);
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kUnknownEnd}});
  EXPECT_EQ(story.record(kForeign).reason, EndReason::kHostLost);
}

// Bug: it was held, and a release would have started it without its command.
TEST(RestoredStateTest, AJobThatIsTakenOverAndNeverRanFails) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kEnded}});
  story.host({7}, model::AttemptRefused{{kForeign, 1}, "no space", true});
  EXPECT_EQ(story.record(kForeign).state, WorkState::kFailed);
  EXPECT_EQ(story.record(kForeign).reason, EndReason::kStartFailures);
  EXPECT_EQ(story.record(kForeign).reason_text, "its host could not start it: no space");
}

TEST(RestoredStateTest, AHeldJobThatHasBegunSinceGoesOn) {
  Story story;
  story.begin(waiting_site());
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning);
  story.exited({7}, {5});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
}

TEST(RestoredStateTest, AReleasedJobThatHasBegunSinceIsNotStartedAgain) {
  auto site = waiting_site();
  site.work[0].shape.needs.vcpus = 8;  // It waits for another host.
  Story story;
  story.begin(site);
  ASSERT_TRUE(story.ask(ReleaseWork{0, "root", WorkId{5}}));
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning);
  EXPECT_FALSE(story.dispatcher.queries().waiting(WorkId{5}));
}

TEST(RestoredStateTest, ALaterAttemptOnAnotherHostTakesThePlaceOfTheKnownOne) {
  auto site = running_site(true);
  site.instances.push_back(second_host());
  Story story;
  story.begin(site);
  story.ready({6}, {{{{5}, 2}, AttemptPhase::kRunning}}, "boot-6");
  EXPECT_EQ(story.record(WorkId{5}).instance, InstanceId{6});
  EXPECT_EQ(story.record(WorkId{5}).attempt, 2U);
  story.ready({7});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning);
  story.exited({6}, {5}, 2);
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
}

/// A host that lies cannot take a job away from a host that has reported it.
TEST(RestoredStateTest, ALaterAttemptIsNotBelievedAgainstAHostThatHasTheKnownOne) {
  auto site = running_site(true);
  site.instances.push_back(second_host());
  Story story;
  story.begin(site);
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  story.ready({6}, {{{{5}, 2}, AttemptPhase::kRunning}}, "boot-6");
  EXPECT_EQ(story.record(WorkId{5}).instance, InstanceId{7});
}

/// One of them lies. The other one's work is not ended for that.
TEST(RestoredStateTest, AnAttemptThatTwoHostsReportIsEndedOnNone) {
  auto site = waiting_site();
  site.instances.push_back(second_host());
  Story story;
  story.begin(site);
  story.ready({6}, {{{kForeign, 1}, AttemptPhase::kRunning}}, "boot-6");
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(kForeign).instance, InstanceId{6});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  EXPECT_THAT(story.ledger(), Contains("h-7 unknown_numbers"));
  story.exited({6}, kForeign);
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  story.ready({7}, {{{kForeign, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(story.commands<model::AckAttempt>(), SizeIs(2)) << "it is over";
}

TEST(RestoredStateTest, AHostOfThisEpochIsNotBelieved) {
  Story story;
  story.begin(waiting_site());
  story.ready({7});
  story.list({story.seen({7})});  // Nothing is created before.
  story.submit({story.job(2)});
  story.submit({story.job(2)});
  const auto creates = story.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(1));
  story.boot(creates[0].instance);
  story.ready(creates[0].instance, {{{kForeign, 1}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.journalled<model::WorkItem>(), SizeIs(2)) << "the two that were submitted";
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
}

TEST(RestoredStateTest, WorkThatCannotBeTakenOverIsLeftAloneWithOneAlarm) {
  Story story;
  story.begin(waiting_site());
  const std::uint64_t never = 9 * kLeftOut;
  story.ready({7},
              {{{{never}, 1}, AttemptPhase::kRunning}, {{{never + 1}, 1}, AttemptPhase::kEnded}});
  story.ready({7},
              {{{{never}, 1}, AttemptPhase::kRunning}, {{{never + 1}, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  EXPECT_THAT(story.commands<model::AckAttempt>(), IsEmpty());
  EXPECT_THAT(story.ledger(), Contains("h-7 unknown_numbers").Times(1));
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
}

TEST(RestoredStateTest, AHostThatDoesNotReportIsKeptUntilAnAdminKillsIt) {
  for (const auto state : {InstanceState::kBooting, InstanceState::kIdle, InstanceState::kBusy}) {
    auto site = restored_site();
    site.instances[0].record.state = state;
    Story story;
    story.begin(site);
    for (int hour = 0; hour < 3; ++hour) {
      story.pass(1h);
      story.list({story.seen({7})});
    }
    EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
    EXPECT_THAT(story.ledger(), Contains("h-7 kept").Times(1));
    const auto view = story.dispatcher.queries().instance({7}, story.now);
    ASSERT_TRUE(view);
    EXPECT_THAT(view->conditions, Contains(HasSubstr("hostler kill h-7")));
    ASSERT_TRUE(story.ask(KillInstance{0, "root", {7}, ""}));
    EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  }
}

TEST(RestoredStateTest, AnInstanceThatWasMadeSinceIsKeptToo) {
  Story story;
  story.begin(waiting_site());
  auto made_since = story.seen({7});
  made_since.id = "i-8";
  made_since.idempotency_key = "key-8";
  made_since.epoch = 3;
  for (int hour = 0; hour < 3; ++hour) {
    story.list({story.seen({7}), made_since});
    story.pass(1h);
  }
  const InstanceId adopted{7 + kLeftOut + 1};
  EXPECT_THAT(story.ledger(), Contains(adopted.text() + " adopted made_since"));
  EXPECT_EQ(story.state(adopted), InstanceState::kUnknown);
  EXPECT_EQ(story.record(adopted).epoch, 3U);
  EXPECT_THAT(story.ledger(), Contains(adopted.text() + " kept"));
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.ready(adopted, {{{kForeign, 1}, AttemptPhase::kRunning}}, "boot-8");
  EXPECT_EQ(story.record(kForeign).state, WorkState::kRunning) << "its driver has proved it";
}

TEST(RestoredStateTest, AHostThatWasOffAndIsOnNowIsNotSwitchedOff) {
  auto site = waiting_site();
  site.instances[0].record.state = InstanceState::kStopped;
  Story story;
  story.begin(site);
  story.list({story.seen({7})});
  EXPECT_THAT(story.all<PowerCall>(), IsEmpty());
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kUnknown);
}

}  // namespace
}  // namespace hostler::dispatch
