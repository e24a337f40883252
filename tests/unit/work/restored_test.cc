#include <gtest/gtest.h>

#include "core/work/step.h"
#include "tests/unit/work/times.h"

/// Jobs of a state that was restored from a backup.
namespace hostler::work {
namespace {

using namespace std::chrono_literals;
using model::WorkState;

/// It started before the backup was made.
Job restored_starting_job() {
  Job job;
  job.id = {1};
  job.restartable = true;
  (void)placed(job, model::InstanceId{7}, at(0s));
  job.record->restored = true;
  return job;
}

Job restored_running_job() {
  Job job = restored_starting_job();
  (void)started(job, at(1s).wall, at(1s));
  return job;
}

TEST(RestoredJobTest, WhatWouldQueueItHoldsIt) {
  Job never = restored_starting_job();
  EXPECT_EQ(never_started(never, "the host does not know it", at(2s)).event, model::Event::kHeld);
  Job lost = restored_running_job();
  EXPECT_EQ(host_gone(lost, "it is gone", at(2s)).event, model::Event::kHeld);
  for (const Job* job : {&never, &lost}) {
    EXPECT_EQ(job->state(), WorkState::kHeld);
    EXPECT_FALSE(job->queued);
    EXPECT_FALSE(job->is_placed());
  }
}

TEST(RestoredJobTest, AReleaseQueuesItAndLeavesNumbersOfAttemptsOut) {
  Job job = restored_running_job();
  EXPECT_FALSE(release(job, "root").changed) << "it is not held";
  (void)host_gone(job, "it is gone", at(2s));
  EXPECT_EQ(release(job, "root").next, Next::kQueueAgain);
  EXPECT_EQ(job.state(), WorkState::kQueued);
  (void)placed(job, model::InstanceId{8}, at(3s));
  EXPECT_EQ(job.record->attempt, 1002U);
  EXPECT_EQ(host_gone(job, "it is gone", at(4s)).next, Next::kQueueAgain) << "as any other job";
}

TEST(RestoredJobTest, AHeldJobIsCancelledAtOnce) {
  Job job = restored_starting_job();
  (void)never_started(job, "the host does not know it", at(2s));
  EXPECT_EQ(cancel(job, "user ann", at(3s)).next, Next::kEnd);
  EXPECT_EQ(job.state(), WorkState::kCancelled);
}

}  // namespace
}  // namespace hostler::work
