#include "core/work/step.h"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "tests/unit/work/times.h"

namespace hostler::work {
namespace {

using namespace std::chrono_literals;
using model::EndReason;
using model::WorkState;
using testing::HasSubstr;

constexpr model::InstanceId kHost{7};

Job queued_job() {
  Job job;
  job.id = {1};
  job.arrival = 1;
  return job;
}

Job starting_job() {
  Job job = queued_job();
  (void)placed(job, kHost, at(0s));
  return job;
}

Job running_job() {
  Job job = starting_job();
  (void)started(job, at(1s).wall, at(1s));
  return job;
}

model::AttemptEnd end_with(EndReason reason, int number = 0) {
  model::AttemptEnd out;
  out.reason = reason;
  if (reason == EndReason::kExit) out.exit_code = number;
  if (reason != EndReason::kExit) out.signal = number;
  out.started = at(1s).wall;
  out.ended = at(9s).wall;
  return out;
}

model::AttemptEnd end_with_chunks(EndReason reason, int number = 0) {
  auto out = end_with(reason, number);
  out.output_is_inline = false;
  return out;
}

TEST(PlacedTest, CountsAsStartedUntilItIsShownThatItNeverDid) {
  Job job = queued_job();
  const auto out = placed(job, kHost, at(0s));

  EXPECT_EQ(out.next, Next::kSend);
  EXPECT_TRUE(out.changed);
  EXPECT_EQ(job.state(), WorkState::kStarting);
  EXPECT_EQ(job.attempt(), (model::AttemptId{{1}, 1}));
  EXPECT_EQ(job.record->starts, 1U);
  EXPECT_EQ(job.record->instance, kHost);
  EXPECT_FALSE(job.queued);
}

TEST(NeverStartedTest, IsQueuedAgainAtNoCost) {
  Job job = queued_job();
  for (std::uint32_t n = 1; n <= 10; ++n) {
    (void)placed(job, kHost, at(0s));
    EXPECT_EQ(job.attempt().number, n) << "attempts are numbered on";
    const auto out = never_started(job, "busy", at(1s));
    EXPECT_EQ(out.next, Next::kQueueAgain);
    EXPECT_EQ(job.state(), WorkState::kQueued);
    EXPECT_EQ(job.record->starts, 0U);
    EXPECT_TRUE(job.queued);
  }
}

// Bug: the job stayed running for ever, on no host.
TEST(NeverStartedTest, WhatWasKnownToRunIsLostNotQueuedAtNoCost) {
  Job job = running_job();
  const auto out = never_started(job, "the host does not know it", at(2s));
  EXPECT_EQ(out.next, Next::kEnd);
  EXPECT_EQ(job.state(), WorkState::kFailed);
  EXPECT_EQ(job.record->reason, EndReason::kHostLost);

  Job again = running_job();
  again.restartable = true;
  EXPECT_EQ(never_started(again, "the host does not know it", at(2s)).next, Next::kQueueAgain);
  EXPECT_EQ(again.record->starts, 1U) << "that start counts";
}

TEST(RefusedTest, AJobThatNoHostCanStartFailsWithTheLastHostsWords) {
  Job job = queued_job();
  job.start_failures_max = 3;
  for (std::uint64_t host = 1; host <= 2; ++host) {
    (void)placed(job, {host}, at(0s));
    EXPECT_EQ(refused(job, "no space", at(1s)).next, Next::kQueueAgain);
  }
  (void)placed(job, {3}, at(0s));
  EXPECT_EQ(refused(job, "a bad environment", at(1s)).next, Next::kEnd);
  EXPECT_EQ(job.state(), WorkState::kFailed);
  EXPECT_EQ(job.record->reason, EndReason::kStartFailures);
  EXPECT_THAT(job.record->reason_text, HasSubstr("3 hosts"));
  EXPECT_THAT(job.record->reason_text, HasSubstr("a bad environment"));
  EXPECT_EQ(job.record->starts, 0U);
  EXPECT_FALSE(exit_status(job.record->reason, job.record->exit_code, job.record->signal));
}

TEST(RefusedTest, OneHostCountsOnceAndAStartThatWasNotTriedNotAtAll) {
  Job job = queued_job();
  job.start_failures_max = 2;
  for (int n = 0; n < 5; ++n) {
    (void)placed(job, kHost, at(0s));
    EXPECT_EQ(refused(job, "no space", at(1s)).next, Next::kQueueAgain);
    (void)placed(job, {8}, at(0s));
    EXPECT_EQ(never_started(job, "the connection ended", at(1s)).next, Next::kQueueAgain);
  }
}

// Bug: a job that may not be restarted failed on the first host with a full disk.
TEST(RefusedTest, AnAttemptThatWasReportedTooEarlyIsQueuedAgainAtNoCost) {
  Job job = running_job();
  EXPECT_EQ(refused(job, "no space", at(2s)).next, Next::kQueueAgain);
  EXPECT_EQ(job.record->starts, 0U);
  EXPECT_EQ(job.record->started, Wall{});
  EXPECT_FALSE(job.record->instance) << "no host is to be asked for this attempt again";

  Job last = running_job();
  last.start_failures_max = 1;
  EXPECT_EQ(refused(last, "no space", at(2s)).next, Next::kEnd);
  EXPECT_EQ(last.record->reason, EndReason::kStartFailures);
  EXPECT_EQ(last.record->started, Wall{});

  Job cancelled = running_job();
  (void)cancel(cancelled, "user ann", at(1s));
  (void)refused(cancelled, "no space", at(2s));
  EXPECT_EQ(cancelled.state(), WorkState::kCancelled);
}

TEST(RefusedTest, ACancelledJobIsCancelled) {
  Job job = starting_job();
  job.start_failures_max = 1;
  (void)cancel(job, "user ann", at(1s));
  (void)refused(job, "no space", at(2s));
  EXPECT_EQ(job.state(), WorkState::kCancelled);
}

TEST(ExitedTest, EachEndHasItsStateAndReason) {
  struct Row {
    EndReason reason;
    int number;
    WorkState state;
    const char* text;
  };
  const std::vector<Row> table{
      {EndReason::kExit, 0, WorkState::kSucceeded, ""},
      {EndReason::kExit, 3, WorkState::kFailed, "exit status 3"},
      {EndReason::kSignal, 11, WorkState::kFailed, "killed by signal 11"},
      {EndReason::kTimeLimit, 15, WorkState::kFailed, "its time limit passed"},
      {EndReason::kStartFailed, 0, WorkState::kFailed, ""},
      {EndReason::kInputFailed, 0, WorkState::kFailed, ""},
      {EndReason::kSupervisionLost, 0, WorkState::kFailed, ""},
  };
  for (const Row& row : table) {
    Job job = running_job();
    const auto out = exited(job, end_with(row.reason, row.number), at(10s));
    EXPECT_EQ(out.next, Next::kEnd) << to_string(row.reason);
    EXPECT_EQ(job.state(), row.state) << to_string(row.reason);
    EXPECT_EQ(job.record->reason, row.reason);
    EXPECT_EQ(job.record->reason_text, row.text);
    EXPECT_EQ(job.record->ended, at(9s).wall) << "by the host's clock";
  }
}

TEST(ExitedTest, TheHostsOwnWordsWin) {
  Job job = starting_job();
  auto end = end_with(EndReason::kStartFailed);
  end.text = "exec /x: No such file or directory";
  (void)exited(job, end, at(10s));
  EXPECT_EQ(job.record->reason_text, end.text);
}

TEST(ExitedTest, WaitsForOutputThatIsNotHereYet) {
  for (const bool files : {true, false}) {
    Job job = running_job();
    auto end = files ? end_with(EndReason::kExit, 0) : end_with_chunks(EndReason::kExit, 0);
    end.has_output_files = files;
    EXPECT_EQ(exited(job, end, at(10s)).next, Next::kCollect);
    EXPECT_EQ(job.state(), WorkState::kCollecting);

    EXPECT_EQ(collected(job, "", at(20s)).next, Next::kEnd);
    EXPECT_EQ(job.state(), WorkState::kSucceeded);
    EXPECT_EQ(job.record->ended, at(9s).wall) << "collecting is not running";
  }
}

TEST(ExitedTest, IsHeardOnce) {
  Job job = running_job();
  (void)exited(job, end_with_chunks(EndReason::kExit, 0), at(10s));
  EXPECT_EQ(exited(job, end_with_chunks(EndReason::kExit, 1), at(11s)).next, Next::kNothing);
  EXPECT_EQ(job.record->exit_code, 0);
}

// Bug: the reason of a failure hid that its output was lost.
TEST(CollectedTest, LostOutputIsTheReasonHoweverTheProcessEnded) {
  Job good = running_job();
  (void)exited(good, end_with_chunks(EndReason::kExit, 0), at(10s));
  (void)collected(good, "stdout: disk full", at(11s));
  EXPECT_EQ(good.state(), WorkState::kFailed);
  EXPECT_EQ(good.record->reason, EndReason::kOutputLost);
  EXPECT_EQ(good.record->reason_text, "stdout: disk full");

  Job bad = running_job();
  (void)exited(bad, end_with_chunks(EndReason::kExit, 3), at(10s));
  (void)collected(bad, "stdout: disk full", at(11s));
  EXPECT_EQ(bad.record->reason, EndReason::kOutputLost);
  EXPECT_EQ(bad.record->reason_text, "exit status 3; stdout: disk full");
  EXPECT_EQ(exit_status(bad.record->reason, bad.record->exit_code, bad.record->signal), 3);

  Job killed = running_job();
  (void)exited(killed, end_with_chunks(EndReason::kSignal, 9), at(10s));
  (void)host_gone(killed, "h-7 is gone", at(11s));
  EXPECT_EQ(killed.record->reason, EndReason::kOutputLost);
  EXPECT_THAT(killed.record->reason_text, HasSubstr("h-7 is gone"));
  EXPECT_EQ(exit_status(killed.record->reason, killed.record->exit_code, killed.record->signal),
            137);
}

// Bug: a job that was ended by its time limit had the exit status 143 or 0 in place of 124, and one
// whose end nobody saw had 0, once its output was lost.
TEST(CollectedTest, LostOutputHidesNoReasonThatHasNoExitStatusOfTheProcess) {
  struct Row {
    EndReason reason;
    int signal;
    std::optional<int> status;
  };
  const std::vector<Row> table{{EndReason::kTimeLimit, 15, 124},
                               {EndReason::kTimeLimit, 0, 124},
                               {EndReason::kSupervisionLost, 0, std::nullopt},
                               {EndReason::kStartFailed, 0, std::nullopt},
                               {EndReason::kInputFailed, 0, std::nullopt}};
  for (const Row& row : table) {
    Job job = running_job();
    auto end = end_with_chunks(row.reason, 0);
    end.signal = row.signal;
    end.text = "its end";
    (void)exited(job, end, at(10s));
    (void)host_gone(job, "h-7 is gone", at(11s));
    EXPECT_EQ(job.state(), WorkState::kFailed);
    EXPECT_EQ(job.record->reason, row.reason);
    EXPECT_THAT(job.record->reason_text, testing::StartsWith("its end; "));
    EXPECT_THAT(job.record->reason_text, HasSubstr("h-7 is gone"));
    EXPECT_EQ(exit_status(job.record->reason, job.record->exit_code, job.record->signal),
              row.status);
  }
}

TEST(HostGoneTest, WorkThatHadStartedFailsUnlessItMayRestart) {
  Job once = running_job();
  EXPECT_EQ(host_gone(once, "h-7 is gone", at(5s)).next, Next::kEnd);
  EXPECT_EQ(once.state(), WorkState::kFailed);
  EXPECT_EQ(once.record->reason, EndReason::kHostLost);
  EXPECT_EQ(once.record->reason_text, "h-7 is gone");
  EXPECT_EQ(once.record->ended, at(5s).wall);

  Job again = running_job();
  again.restartable = true;
  EXPECT_EQ(host_gone(again, "h-7 is gone", at(5s)).next, Next::kQueueAgain);
  EXPECT_EQ(again.state(), WorkState::kQueued);
  EXPECT_EQ(again.record->started, Wall{}) << "nothing of it runs";
}

TEST(HostGoneTest, AnAttemptThatMayHaveStartedCountsAsStarted) {
  Job job = starting_job();
  EXPECT_EQ(host_gone(job, "rebooted", at(5s)).next, Next::kEnd);
  EXPECT_EQ(job.record->reason, EndReason::kHostLost);
}

TEST(HostGoneTest, RestartsEndAtAttemptsMax) {
  Job job = queued_job();
  job.restartable = true;
  job.attempts_max = 3;
  for (const auto next : {Next::kQueueAgain, Next::kQueueAgain, Next::kEnd}) {
    (void)placed(job, kHost, at(0s));
    EXPECT_EQ(host_gone(job, "gone", at(5s)).next, next);
  }
  EXPECT_EQ(job.record->starts, 3U);
  EXPECT_EQ(job.record->reason, EndReason::kHostLost);
}

TEST(HostGoneTest, AnAttemptThatIsFoundAgainAndInterruptedAgainIsTakenBackOnce) {
  Job job = running_job();
  job.restartable = true;
  EXPECT_EQ(host_gone(job, "suspended", at(2s), /*was_announced=*/true).next, Next::kQueueAgain);
  (void)found_again(job, at(3s));
  EXPECT_EQ(host_gone(job, "suspended", at(4s), /*was_announced=*/true).next, Next::kQueueAgain);
  EXPECT_EQ(job.record->starts, 0U);
}

TEST(HostGoneTest, AttemptsThatNeverStartedAreNotCounted) {
  Job job = queued_job();
  job.restartable = true;
  job.attempts_max = 2;
  for (int n = 0; n < 5; ++n) {
    (void)placed(job, kHost, at(0s));
    (void)never_started(job, "refused", at(1s));
  }
  (void)placed(job, kHost, at(2s));
  EXPECT_EQ(host_gone(job, "gone", at(5s)).next, Next::kQueueAgain);
  (void)placed(job, kHost, at(6s));
  EXPECT_EQ(host_gone(job, "gone", at(7s)).next, Next::kEnd);
}

TEST(HostGoneTest, AnEndThatIsKnownStandsThoughItsOutputIsLost) {
  Job job = running_job();
  job.restartable = true;
  (void)exited(job, end_with_chunks(EndReason::kExit, 0), at(10s));
  EXPECT_EQ(host_gone(job, "h-7 is gone", at(11s)).next, Next::kEnd);
  EXPECT_EQ(job.state(), WorkState::kFailed);
  EXPECT_EQ(job.record->reason, EndReason::kOutputLost);
  EXPECT_THAT(job.record->reason_text, HasSubstr("h-7 is gone"));
}

TEST(SupervisionTest, ALostShimIsALostAttempt) {
  Job job = running_job();
  job.restartable = true;
  EXPECT_EQ(exited(job, end_with(EndReason::kSupervisionLost), at(10s)).next, Next::kQueueAgain);

  Job failed = running_job();
  failed.restartable = true;
  EXPECT_EQ(exited(failed, end_with(EndReason::kExit, 1), at(10s)).next, Next::kEnd)
      << "restartable is about lost hosts, not about failures";
}

TEST(CancelTest, AWaitingJobEndsAtOnce) {
  Job job = queued_job();
  const auto out = cancel(job, "user ann", at(1s));
  EXPECT_EQ(out.next, Next::kEnd);
  EXPECT_EQ(job.state(), WorkState::kCancelled);
  EXPECT_EQ(job.record->reason_text, "by user ann");
}

TEST(CancelTest, ARunningJobIsKilledAndEndsAsItsHostSays) {
  Job job = running_job();
  EXPECT_EQ(cancel(job, "user ann", at(2s)).next, Next::kKill);
  EXPECT_EQ(job.state(), WorkState::kRunning);
  const auto again = cancel(job, "user ann", at(3s));
  EXPECT_EQ(again.next, Next::kKill) << "the first may be lost";
  EXPECT_FALSE(again.changed);

  (void)exited(job, end_with(EndReason::kSignal, 15), at(4s));
  EXPECT_EQ(job.state(), WorkState::kCancelled);
  EXPECT_EQ(job.record->reason, EndReason::kCancelled);
}

TEST(CancelTest, AJobThatSucceededFirstHasSucceeded) {
  Job job = running_job();
  (void)cancel(job, "user ann", at(2s));
  (void)exited(job, end_with(EndReason::kExit, 0), at(3s));
  EXPECT_EQ(job.state(), WorkState::kSucceeded);
}

TEST(CancelTest, IsNotForgottenBySetbacks) {
  Job refused = starting_job();
  refused.restartable = true;
  (void)cancel(refused, "user ann", at(1s));
  EXPECT_EQ(never_started(refused, "busy", at(2s)).next, Next::kEnd);
  EXPECT_EQ(refused.state(), WorkState::kCancelled);

  Job lost = running_job();
  lost.restartable = true;
  (void)cancel(lost, "user ann", at(1s));
  EXPECT_EQ(host_gone(lost, "gone", at(2s)).next, Next::kEnd);
  EXPECT_EQ(lost.state(), WorkState::kCancelled);
}

TEST(CancelTest, ComesTooLateForAnEnd) {
  Job job = running_job();
  (void)exited(job, end_with_chunks(EndReason::kExit, 0), at(10s));
  EXPECT_EQ(cancel(job, "user ann", at(11s)).next, Next::kNothing);
  (void)collected(job, "", at(12s));
  EXPECT_EQ(cancel(job, "user ann", at(13s)).next, Next::kNothing);
  EXPECT_EQ(job.state(), WorkState::kSucceeded);
}

TEST(LateNewsTest, ChangesNothingOfAJobThatIsNotOnAHost) {
  Job job = queued_job();
  EXPECT_EQ(never_started(job, "", at(1s)).next, Next::kNothing);
  EXPECT_EQ(host_gone(job, "", at(1s)).next, Next::kNothing);
  EXPECT_EQ(collected(job, "", at(1s)).next, Next::kNothing);
  EXPECT_FALSE(started(job, at(1s).wall, at(1s)).changed);
  EXPECT_EQ(job.state(), WorkState::kQueued);
}

}  // namespace
}  // namespace hostler::work
