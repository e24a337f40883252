#include <algorithm>
#include <tuple>

#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Output that is still to be fetched after the end of its job.
namespace hostler::dispatch {
namespace {

using model::AttemptPhase;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Bug: a host filled its disk with output, faster than it was fetched.
TEST(OutputWaitsTest, AHostWithMuchOutputToFetchGetsTheNextJobOnceThatIsHere) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2), story.job(2)});
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  const auto first = story.commands<model::StartAttempt>().at(0).attempt;
  story.clear();
  model::AttemptEnd end;
  end.output_is_inline = false;
  end.stdout_bytes = std::uint64_t{1} << 40;
  story.host(on, model::AttemptExited{first, end});
  story.pass(1s);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());

  story.host(on, model::AttemptCollected{first, ""});
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
}

TEST(OutputWaitsTest, OutputThatARestartFindsToBeFetchedCountsToo) {
  auto site = busy_site();
  site.work = {job(WorkState::kCollecting, 1), job(WorkState::kQueued)};
  site.work[0].record.stdout_bytes = std::uint64_t{1} << 40;
  site.work[1].record.id = {6};
  site.work[1].arrival = 6;
  site.last_work = site.last_arrival = 6;
  site.attempts = {attempt(AttemptState::kEnded)};
  Story again;
  again.begin(std::move(site));
  again.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(again.commands<model::StartAttempt>(), IsEmpty());
  again.host({7}, model::AttemptCollected{{{5}, 1}, ""});
  EXPECT_THAT(again.commands<model::StartAttempt>(), SizeIs(1));
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A job that has ended, and has output on its host.
class CollectingTest : public testing::Test {
 protected:
  CollectingTest() {
    story.begin();
    std::tie(job, on) = story.running();
    model::AttemptEnd end;
    end.output_is_inline = false;
    end.stdout_bytes = 16 * kMiB;
    story.host(on, model::AttemptExited{attempt(), end});
    story.clear();
  }
  [[nodiscard]] model::AttemptId attempt() const { return {job, 1}; }
  Result<std::vector<WorkId>> give_up(const std::string& who = "user ann", bool admin = false) {
    return story.ask(GiveUpOutput{0, who, admin, job});
  }
  void progress(std::uint64_t here, bool waits = false) {
    story.host(on, model::OutputProgress{attempt(), here, 16 * kMiB, waits});
  }
  /// In steps, so that deadlines fire.
  void wait(Duration time) {
    for (; time > 0s; time -= 30s) story.pass(std::min<Duration>(time, 30s));
  }

  Story story;
  WorkId job;
  InstanceId on;
};

TEST_F(CollectingTest, OutputThatIsGivenUpEndsItsJobAndFreesTheHost) {
  ASSERT_TRUE(give_up());

  const auto record = story.record(job);
  EXPECT_EQ(record.state, WorkState::kFailed);
  EXPECT_EQ(record.reason, EndReason::kOutputLost);
  EXPECT_THAT(record.reason_text, HasSubstr("given up by user ann"));
  ASSERT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
  EXPECT_EQ(story.commands<model::AckAttempt>()[0].attempt, attempt());
  ASSERT_THAT(story.journalled<model::AttemptChanged>(), SizeIs(1));
  EXPECT_EQ(story.journalled<model::AttemptChanged>()[0].state, model::AttemptState::kDone);

  // The last of it was under way already.
  story.host(on, model::AttemptCollected{attempt(), ""});
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
}

// Bug: after a new connection files come again from their beginning, and the host was given up.
TEST_F(CollectingTest, AHostThatSendsAgainWhatIsHereIsNotSilent) {
  for (std::uint64_t received = 1; received < 4; ++received) {
    story.host(on, model::OutputProgress{attempt(), kMiB, 16 * kMiB, false, received * kMiB});
    wait(9min);
  }
  EXPECT_EQ(story.record(job).state, WorkState::kCollecting);
  wait(2min);
  EXPECT_EQ(story.record(job).reason, EndReason::kOutputLost);
}

TEST_F(CollectingTest, ADiskThatStoresNothingIsNoSilenceOfTheHost) {
  story.host(on, model::OutputProgress{attempt(), kMiB, 16 * kMiB, false, 2 * kMiB, false});
  wait(1h);
  EXPECT_EQ(story.record(job).state, WorkState::kCollecting);
}

TEST_F(CollectingTest, AHostThatWasAwayLearnsThatItsOutputIsGivenUp) {
  story.host(on, model::HostLost{"reset", {}});
  ASSERT_TRUE(give_up());
  story.clear();

  story.ready(on, {{attempt(), AttemptPhase::kEnded}});

  ASSERT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
}

TEST_F(CollectingTest, OnlyItsOwnerAndAdminsGiveOutputUp) {
  EXPECT_EQ(give_up("user bob").error().code, Errc::kForbidden);
  EXPECT_TRUE(give_up("user eve", true));
}

TEST_F(CollectingTest, OutputOfAJobThatRunsIsNotGivenUp) {
  const auto runs = story.submit({story.job()});
  const auto refused = story.ask(GiveUpOutput{0, "user ann", false, runs.at(0)});
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("cancel ends the job"));
}

// Bug: the answer was good, and nothing happened.
TEST_F(CollectingTest, ACancelSaysThatTheJobHasEndedAndWhatEndsTheFetching) {
  const auto answer = story.ask(CancelWork{0, "user ann", false, job});

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kConflict);
  EXPECT_THAT(answer.error().message, HasSubstr("has ended"));
  EXPECT_THAT(answer.error().message, HasSubstr("hostler outputs give-up " + job.text()));
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());
}

// Bug: a host that claimed output and sent nothing kept its job collecting for ever.
TEST_F(CollectingTest, OutputOfWhichNothingComesForTenMinutesIsLost) {
  wait(9min);
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());
  wait(1min);

  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
  EXPECT_EQ(story.record(job).reason, EndReason::kOutputLost);
  EXPECT_THAT(story.record(job).reason_text, HasSubstr("sent nothing of its output for 10 m"));
  EXPECT_THAT(story.commands<model::AckAttempt>(), SizeIs(1));
}

TEST_F(CollectingTest, EachByteGivesAHostTenMinutesMore) {
  for (std::uint64_t here = 1; here <= 6; ++here) {
    wait(9min);
    progress(here);
  }
  progress(6);
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());
  wait(10min);
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
}

TEST_F(CollectingTest, AHostThatMayNotSendForWantOfRoomIsNotLate) {
  progress(kMiB, /*waits=*/true);
  wait(1h);
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());

  progress(kMiB);
  wait(9min);
  EXPECT_THAT(story.journalled<model::WorkChanged>(), IsEmpty());
  wait(1min);
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
}

TEST_F(CollectingTest, NewConnectionsGiveAHostLittleTime) {
  for (int i = 0; i < 3; ++i) {
    wait(3min);
    story.host(on, model::HostLost{"reset", {}});
    story.ready(on, {{attempt(), AttemptPhase::kEnded}});
  }
  wait(1min);
  EXPECT_EQ(story.record(job).state, WorkState::kFailed);
}

TEST_F(CollectingTest, ItIsShownHowMuchIsHereAndWhatItWaitsFor) {
  progress(3 * kMiB);
  const auto fetched = story.dispatcher.queries().waiting(job);
  ASSERT_TRUE(fetched);
  EXPECT_EQ(fetched->code, model::WaitingCode::kOutput);
  EXPECT_THAT(fetched->reason, HasSubstr("3 MiB of 16 MiB is here"));

  progress(3 * kMiB, true);
  const auto waits = story.dispatcher.queries().waiting(job);
  EXPECT_EQ(waits->code, model::WaitingCode::kDiskFull);
  EXPECT_THAT(waits->reason, HasSubstr("3 MiB of 16 MiB is here"));
  EXPECT_EQ(story.dispatcher.queries().totals(story.now.mono).waiting_outputs, 1U);
}

TEST_F(CollectingTest, ThatOutputHasNoRoomIsAnAlarmUntilNoneWaits) {
  progress(kMiB, true);
  progress(kMiB, true);
  EXPECT_THAT(story.ledger(), Contains("site disk_full").Times(1));
  story.host(on, model::AttemptCollected{attempt(), ""});
  wait(1min);
  EXPECT_THAT(story.ledger(), Contains("site disk_has_room"));
}

TEST_F(CollectingTest, AFullDiskAndOutputWithoutRoomAreOneAlarm) {
  story.say(DiskChanged{true});
  progress(kMiB, true);
  story.say(DiskChanged{false});
  EXPECT_THAT(story.ledger(), Contains("site disk_full").Times(1));
  EXPECT_THAT(story.ledger(), Not(Contains("site disk_has_room")));
  progress(kMiB);
  wait(1min);
  EXPECT_THAT(story.ledger(), Contains("site disk_has_room"));
}

TEST(OutputWaitsTest, AHostGetsTenMinutesAfterARestart) {
  auto site = busy_site();
  site.work = {job(WorkState::kCollecting, 1)};
  site.work[0].record.reason = EndReason::kExit;
  site.attempts = {attempt(AttemptState::kEnded)};
  Story again;
  again.begin(std::move(site));
  again.ready({7}, {{{{5}, 1}, AttemptPhase::kEnded}});
  for (int i = 0; i < 19; ++i) again.pass(30s);
  EXPECT_THAT(again.journalled<model::WorkChanged>(), IsEmpty());
  for (int i = 0; i < 2; ++i) again.pass(30s);
  EXPECT_EQ(again.record(WorkId{5}).reason, EndReason::kOutputLost);
}

}  // namespace
}  // namespace hostler::dispatch
