#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// What a daemon makes of the journal of the one that died.
namespace hostler::dispatch {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using model::AttemptState;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RestartTest, GoesOnWithARunningJobAndStartsNothingTwice) {
  Story story;
  story.begin(busy_site());
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kUnknown);
  ASSERT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  story.clear();

  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  story.exited({7}, {5});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
}

// Bug: its boot probe was run again first, and where it failed by now the running job was killed.
TEST(RestartTest, AHostThatHadBeenReadyIsNotProbedAgain) {
  for (const bool was_ready : {true, false}) {
    auto site = busy_site();
    if (was_ready) site.instances[0].record.ready = Wall{1};
    Story story;
    story.begin(std::move(site));
    const auto connects = story.commands<model::ConnectHost>();
    ASSERT_THAT(connects, SizeIs(1));
    EXPECT_EQ(connects[0].target.was_ready, was_ready);
  }
}

TEST(RestartTest, AHostThatWasSwitchedOnIsProbedAgain) {
  auto site = busy_site();
  site.work.clear();
  site.attempts.clear();
  site.instances[0].record.state = InstanceState::kBooting;
  site.instances[0].record.ready = Wall{1};
  Story story;
  story.begin(std::move(site));
  ASSERT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  EXPECT_FALSE(story.commands<model::ConnectHost>()[0].target.was_ready);
}

// Bug: it got another job before the first plan of the new daemon.
TEST(RestartTest, AHostWhoseTypeLeftThePoolMeanwhileGetsNoMoreJobs) {
  for (const bool has_left : {false, true}) {
    auto rows = busy_site();
    rows.last_work = rows.last_arrival = 6;
    rows.work.push_back(job(WorkState::kQueued));
    rows.work.back().record.id = {6};
    rows.work.back().arrival = 6;
    auto site = small_site();
    if (has_left) std::erase(site.pools[0].types, rows.instances[0].record.type);
    Story story(site);
    story.plans_wait = true;
    story.begin(std::move(rows));
    story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
    story.exited({7}, {5});
    EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(has_left ? 0 : 1));
  }
}

// Bug: a configuration with one pool more, which a reload may add, ended the daemon.
TEST(RestartTest, AReloadMayAddAPool) {
  auto site = small_site();
  Story story(site);
  story.begin();
  site.pools.push_back(site.pools[0]);
  site.pools[1].name = "second";
  site.pools[1].sizes.min = 1;
  story.say(PolicyChanged{site});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(RestartTest, WorkOfAKindThatNobodyCanSubmitYetIsLeftAlone) {
  model::Restored restored;
  restored.work = {job(WorkState::kQueued)};
  restored.work[0].record.id.kind = model::WorkKind::kLease;
  Story story;
  story.begin(restored);
  EXPECT_TRUE(story.dispatcher.queries().at_rest());
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());
}

// Bug: creates that were sent again passed the ceiling of creates a minute, five a second each.
TEST(RestartTest, CreatesThatAreSentAgainKeepToTheirRate) {
  auto site = small_site();
  site.pools[0].boot_timeout = 1h;
  site.pools[0].sizes.min = site.pools[0].sizes.max = 50;
  site.ceilings.creates_per_minute_max = 5;
  model::Restored restored;
  for (std::uint64_t n = 1; n <= 50; ++n) {
    auto request = std::make_shared<model::CreateRequest>();
    auto row = instance(InstanceState::kRequested);
    row.record.id = {n};
    row.record.provider_id.clear();
    row.record.idempotency_key = request->idempotency_key = "key-" + std::to_string(n);
    row.create = request;
    restored.instances.push_back(std::move(row));
  }
  restored.last_instance = 50;
  Story story(site);
  story.begin(std::move(restored));
  std::size_t sent = 0;
  for (int minute = 1; minute <= 12; ++minute) {
    story.clear();
    for (int n = 0; n < 30; ++n) {
      const auto before = story.all<CreateCall>().size();
      story.list({});
      const auto calls = story.all<CreateCall>();
      for (std::size_t i = before; i < calls.size(); ++i) {
        ++sent;
        story.create_ended(calls[i].instance, error(CloudErrorClass::kTransient));
      }
      story.pass(900ms);
    }
    EXPECT_LE(story.all<CreateCall>().size(), 10U) << minute;
  }
  EXPECT_GE(sent, 40U) << "and they are sent";
}

// Bug: before its link could connect, a restart gave every idle host up as surplus.
TEST(RestartTest, AnIdleHostIsProvedAgainAndKeptToItsIdleTimeout) {
  Story story;
  auto restored = busy_site();
  restored.work.clear();
  restored.attempts.clear();
  restored.instances[0].record.state = InstanceState::kIdle;
  story.begin(std::move(restored));
  story.pass(30s);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kUnknown);
  story.ready({7});
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kIdle);
  story.pass(2min);
  EXPECT_EQ(story.record(InstanceId{7}).reason_code, model::Reason::kIdle);
}

// Bug: a job that was cancelled as the daemon died ran to its natural end.
TEST(RestartTest, SendsAKillThatMayNotHaveLeft) {
  Story story;
  auto restored = busy_site();
  restored.work[0].record.cancel_requested = true;
  story.begin(std::move(restored));
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
}

// Bug: its host was forgotten, and its job, still running there, was started again.
TEST(RestartTest, IsRefusedWhileAnInstanceHasNoSetOrPool) {
  const auto site = small_site();
  EXPECT_TRUE(check_homes(busy_site(), site));
  for (const bool set : {true, false}) {
    auto restored = busy_site();
    auto& record = restored.instances[0].record;
    (set ? record.set : record.pool) = "east";
    const auto checked = check_homes(restored, site);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, testing::HasSubstr("'east'"));
    EXPECT_THAT(checked.error().message, testing::HasSubstr("h-7 (i-7)"));
    record.state = InstanceState::kAbandoned;
    EXPECT_TRUE(check_homes(restored, site)) << "nobody is to be kept from going on by a ghost";
  }
}

// Bug: the mark that a purge may remove the journal was set although an instance was only given up.
TEST(RestartTest, AnAbandonedInstanceWhoseSetIsGoneStillCounts) {
  Story story;
  auto restored = busy_site();
  restored.work.clear();
  restored.attempts.clear();
  restored.instances[0].record.set = "east";
  restored.instances[0].record.state = InstanceState::kAbandoned;
  story.begin(std::move(restored));
  EXPECT_THAT(story.dispatcher.queries().instances(), IsEmpty());
  EXPECT_FALSE(story.dispatcher.queries().has_no_instances());
}

// Bug: each restart allowed a whole minute's creates again.
TEST(RestartTest, CountsTheCreatesOfTheLastMinute) {
  auto site = small_site();
  site.ceilings.creates_per_minute_max = 1;
  Story story(site);
  auto restored = busy_site();
  restored.instances[0].record.created = story.now.wall + -30s;
  story.begin(std::move(restored));
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  story.pass(40s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(RestartTest, ResumesWhatIsThisHostsAndNothingElse) {
  Story story;
  auto restored = busy_site();
  auto other = instance(InstanceState::kBusy);
  other.record.id = {6};
  other.record.provider_id = "i-6";
  other.record.idempotency_key = "key-other";
  restored.instances.insert(restored.instances.begin(), other);
  story.begin(std::move(restored));
  story.clear();

  // Bug: a host that listed another's attempt could write its output.
  story.ready({6}, {{{{5}, 1}, AttemptPhase::kEnded}, {{{99}, 1}, AttemptPhase::kEnded}});
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}, {{{99}, 1}, AttemptPhase::kRunning}});

  const auto resumes = story.commands<model::ResumeAttempts>();
  ASSERT_THAT(resumes, SizeIs(2)) << "every HostReady is answered";
  EXPECT_EQ(resumes[0].instance, InstanceId{6});
  EXPECT_THAT(resumes[0].attempts, IsEmpty());
  EXPECT_EQ(resumes[1].instance, InstanceId{7});
  EXPECT_THAT(resumes[1].attempts, ElementsAre(AttemptId{{5}, 1}));
}

TEST(RestartTest, HearsOfAnEndThatCameMeanwhile) {
  Story story;
  story.begin(busy_site());
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning) << "its end is told again";
  story.exited({7}, {5}, 1, 3);
  EXPECT_EQ(story.record(WorkId{5}).exit_code, 3);
  EXPECT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
}

TEST(RestartTest, AnIntentThatNeverLeftIsPlacedAgainWithANewNumber) {
  Story story;
  auto restored = busy_site();
  restored.work[0].record.state = WorkState::kStarting;
  story.begin(std::move(restored));
  story.clear();
  story.ready({7}, {});
  const auto starts = story.commands<model::StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].attempt, (AttemptId{{5}, 2}));
  EXPECT_GT(starts[0].sequence, 12U) << "no number of this boot is used twice";
}

TEST(RestartTest, AWaitingJobWaitsAtItsOldPlace) {
  Story story;
  auto restored = busy_site();
  auto early = job(WorkState::kQueued);
  early.record.id = {2};
  early.arrival = 2;
  restored.work.insert(restored.work.begin(), early);
  story.begin(std::move(restored));
  (void)story.submit({story.job(2)});
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  story.clear();
  story.exited({7}, {5});
  ASSERT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(story.commands<model::StartAttempt>()[0].attempt.work, WorkId{2});
}

TEST(RestartTest, CollectsWhatHadEnded) {
  Story story;
  auto restored = busy_site();
  restored.work[0].record.state = WorkState::kCollecting;
  restored.work[0].record.reason = EndReason::kExit;
  restored.attempts[0].state = AttemptState::kEnded;
  story.begin(std::move(restored));
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
  EXPECT_EQ(story.dispatcher.queries().instances()[0].used.vcpus, 0) << "its resources are free";
  story.clear();
  story.host({7}, model::AttemptCollected{{{5}, 1}, ""});
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
  EXPECT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
}

TEST(RestartTest, ACreateThatMayHaveHappenedIsLookedForAndSentAgain) {
  Story story;
  model::Restored restored;
  restored.last_instance = 7;
  restored.instances = {instance(InstanceState::kRequested)};
  auto request = std::make_shared<model::CreateRequest>();
  request->idempotency_key = "key-old";
  request->user_data = "secret";
  restored.instances[0].create = request;
  restored.work = {job(WorkState::kQueued)};
  story.begin(std::move(restored));
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());

  story.pass(1s);
  story.list({});
  const auto calls = story.all<CreateCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(*calls[0].request, *request);
}

// As of Kip's node manager, which deletes by an empty id after a restart: that means all.
TEST(RestartTest, ADestroyWithoutAnIdOfTheCloudIsNotSent) {
  Story story;
  model::Restored restored;
  auto row = instance(InstanceState::kTerminating);
  row.record.provider_id.clear();
  restored.instances = {row};
  story.begin(std::move(restored));
  story.pass(2s);
  EXPECT_THAT(story.all<DestroyCall>(), testing::IsEmpty());
}

TEST(RestartTest, ADestroyGoesOn) {
  Story story;
  model::Restored restored;
  restored.instances = {instance(InstanceState::kTerminating)};
  story.begin(std::move(restored));
  story.pass(2s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST(RestartTest, AShutGateStaysShut) {
  Story story;
  model::Restored restored;
  model::GateRecord gate;
  gate.key = "west quota";
  gate.set = "west";
  gate.cls = CloudErrorClass::kQuota;
  gate.scope = model::scope::kOperation;
  gate.until = story.now.wall + 5min;
  restored.gates = {gate};
  story.begin(std::move(restored));
  (void)story.submit({story.job()});
  story.pass(4min);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  story.pass(2min);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(RestartTest, CountsOnWhereItStopped) {
  Story story;
  story.begin(busy_site());
  const auto first = story.journalled<model::LedgerRecord>().at(0);
  EXPECT_EQ(first.rev, 101U);
  EXPECT_EQ(first.epoch, 3U);
  (void)story.submit({story.job(2)});
  EXPECT_EQ(story.all<CreateCall>().at(0).instance, InstanceId{8});
}

TEST(RestartTest, AnAdoptedHostThatCannotBeReachedKeepsItsJobUntilTheProbeTimeout) {
  auto site = small_site();
  site.pools[0].probe_timeout = 5min;
  Story story(site);
  story.begin(busy_site());
  story.list({});
  story.clear();
  story.pass(5min);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy) << "from now on it is unreachable";
  EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kRunning);
  story.pass(5min);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kTerminating);
}

}  // namespace
}  // namespace hostler::dispatch
