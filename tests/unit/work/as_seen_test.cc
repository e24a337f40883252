#include <gmock/gmock.h>

#include <utility>

#include "core/work/step.h"

/// The times of an attempt, whatever the clock of its host is.
namespace hostler::work {
namespace {

using namespace std::chrono_literals;

Now when(Duration since) { return {Mono(100h + since), Wall{1'700'000'000'000'000} + since}; }

Job placed_job() {
  Job job;
  job.id = {1};
  job.arrival = 1;
  (void)placed(job, model::InstanceId{7}, when(0s));
  return job;
}

Job started_job() {
  Job job = placed_job();
  (void)started(job, when(1s).wall, when(1s));
  return job;
}

model::AttemptEnd ran(Duration from, Duration until) {
  model::AttemptEnd out;
  out.started = when(from).wall;
  out.ended = when(until).wall;
  return out;
}

TEST(AsSeenTest, AnAttemptHasTheDurationThatItsHostReports) {
  EXPECT_EQ(as_seen(started_job(), ran(2s, 6s), when(10s)), ran(2s, 6s));
}

TEST(AsSeenTest, AClockOfAHostThatIsWrongMovesTheAttemptIntoTheTimeThatWasSeen) {
  for (const int hours : {-10'000, -1, 1, 10'000}) {
    const Duration wrong = hours * 1h;
    const auto seen = as_seen(started_job(), ran(2s + wrong, 6s + wrong), when(10s));
    EXPECT_EQ(seen.ended - seen.started, 4s);
    EXPECT_GE(seen.started, when(0s).wall);
    EXPECT_LE(seen.ended, when(10s).wall);
  }
}

// Bug: a job of a millisecond whose host reported a start long ago was billed since its create.
TEST(AsSeenTest, NoAttemptIsLongerThanFromItsPlacementToTheNewsOfItsEnd) {
  auto end = ran(0s, 1s);
  end.started = Wall{1};
  EXPECT_EQ(as_seen(started_job(), end, when(10s)), ran(0s, 10s));
}

TEST(AsSeenTest, NoAttemptEndsBeforeItBegins) {
  const auto backwards = as_seen(started_job(), ran(9s, 3s), when(10s));
  EXPECT_EQ(backwards.started, backwards.ended);
  const auto set_back = as_seen(started_job(), ran(1s, 2s), when(-1h));
  EXPECT_EQ(set_back, ran(0s, 0s)) << "the clock of the daemon was set back";
}

TEST(AsSeenTest, WhatNeverRanHasNoStart) {
  const auto seen = as_seen(started_job(), model::AttemptEnd{}, when(10s));
  EXPECT_EQ(seen.started, Wall{});
  EXPECT_EQ(seen.ended, when(10s).wall);
}

TEST(AsSeenTest, AnEndThatIsReportedAgainHasTheTimesOfTheFirstReport) {
  Job job = started_job();
  auto end = ran(1h, 2h);
  end.output_is_inline = false;
  end = as_seen(job, end, when(10s));
  (void)exited(job, end, when(10s));
  auto again = end;
  again.ended = when(3h).wall;
  EXPECT_EQ(as_seen(job, again, when(1h)), end);
}

TEST(StartedTest, IsNoEarlierThanThePlacementAndNotInTheFuture) {
  const std::pair<Duration, Duration> table[] = {{-1h, 0s}, {1s, 1s}, {1h, 3s}};
  for (const auto& [reported, shown] : table) {
    Job job = placed_job();
    (void)started(job, when(reported).wall, when(3s));
    EXPECT_EQ(job.record->started, when(shown).wall);
  }
}

}  // namespace
}  // namespace hostler::work
