#include "core/fleet/occupancy.h"

#include <gtest/gtest.h>

#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

using model::WorkId;
using model::WorkKind;

constexpr model::Resources kHalf{.vcpus = 2, .gpus = 0, .ram = 4096, .scratch = 0};

PlacedAttempt attempt(std::uint64_t job, bool collecting = false) {
  return {{{job}, 1}, "boot-1", job, kHalf, collecting};
}

TEST(OccupancyTest, RoomIsFreedOnceThoughAnEndIsReportedTwice) {
  Occupancy occupancy;
  occupancy.add(attempt(1));
  occupancy.add(attempt(2));
  EXPECT_EQ(occupancy.used(), kHalf + kHalf);

  occupancy.release({{1}, 1});
  occupancy.release({{1}, 1});
  EXPECT_EQ(occupancy.used(), kHalf);
  EXPECT_EQ(occupancy.active_attempts(), 1U);
  EXPECT_TRUE(occupancy.find({{1}, 1})->collecting);

  EXPECT_TRUE(occupancy.remove(model::AttemptId{{1}, 1}));
  EXPECT_FALSE(occupancy.remove(model::AttemptId{{1}, 1}));
  EXPECT_EQ(occupancy.used(), kHalf);
}

TEST(OccupancyTest, AnAttemptThatIsRemovedWhileItRunsFreesItsRoom) {
  Occupancy occupancy;
  occupancy.add(attempt(1));
  EXPECT_TRUE(occupancy.remove(model::AttemptId{{1}, 1}));
  EXPECT_EQ(occupancy.used(), model::Resources{});
  EXPECT_TRUE(occupancy.empty());
}

TEST(OccupancyTest, AnAttemptThatIsCollectingTakesNoRoom) {
  Occupancy occupancy;
  occupancy.add(attempt(1, true));
  EXPECT_EQ(occupancy.used(), model::Resources{});
  EXPECT_FALSE(occupancy.in_use());
  EXPECT_FALSE(occupancy.empty()) << "its output is still to come";
}

TEST(OccupancyTest, OutputWaitsWhenTooManyAttemptsAreCollectingOrTheirBytesAreTooMany) {
  Occupancy many;
  for (std::uint64_t job = 1; job <= kCollectingMax; ++job) {
    EXPECT_FALSE(many.output_waits());
    many.add(attempt(job));
    many.release({{job}, 1});
  }
  EXPECT_TRUE(many.output_waits());
  many.remove(model::AttemptId{{1}, 1});
  EXPECT_FALSE(many.output_waits());

  Occupancy large;
  for (std::uint64_t job = 1; job <= 3; ++job) large.add(attempt(job));
  large.set_output({{1}, 1}, output_size(kCollectingBytesMax / 2, 0));
  large.release({{1}, 1});
  EXPECT_FALSE(large.output_waits());
  large.set_output({{2}, 1}, output_size(0, kCollectingBytesMax / 2));
  large.release({{2}, 1});
  EXPECT_TRUE(large.output_waits());
  large.remove(model::AttemptId{{2}, 1});
  EXPECT_FALSE(large.output_waits());
  large.remove(model::AttemptId{{1}, 1});
  large.remove(model::AttemptId{{3}, 1});
  large.add(attempt(4));
  large.set_output({{4}, 1}, output_size(UINT64_MAX, UINT64_MAX));
  large.release({{4}, 1});
  EXPECT_TRUE(large.output_waits());
  large.remove(model::AttemptId{{4}, 1});
  EXPECT_FALSE(large.output_waits());
}

TEST(OccupancyDeathTest, AnAttemptIsNeverPlacedTwice) {
  Occupancy occupancy;
  occupancy.add(attempt(1));
  EXPECT_DEATH(occupancy.add(attempt(1)), "an attempt is placed on a host once");
}

TEST(OccupancyTest, ALeaseTakesRoomUntilItsClaimEnds) {
  const WorkId lease{7, WorkKind::kLease};
  Occupancy occupancy;
  occupancy.add(attempt(1));
  occupancy.add(Claim{lease, kHalf});
  EXPECT_EQ(occupancy.used(), kHalf + kHalf);
  EXPECT_EQ(occupancy.active_attempts(), 1U) << "a claim is no attempt";

  EXPECT_FALSE(occupancy.remove(WorkId{7})) << "job 7 is other work than lease 7";
  EXPECT_TRUE(occupancy.remove(lease));
  EXPECT_EQ(occupancy.used(), kHalf);
}

TEST(OccupancyTest, AHostIsInUseByAttemptsThatAreLeftAlone) {
  Instance instance = instance_in(InstanceState::kIdle);
  const model::AttemptId one{{7}, 1};
  instance.occupancy.leave_alone(one, model::AttemptPhase::kRunning);
  (void)work_changed(instance, pool(), at(1min));
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  instance.occupancy.leave_alone(one, model::AttemptPhase::kEnded);
  EXPECT_FALSE(instance.empty());
  EXPECT_TRUE(instance.occupancy.forget_unplaced(one));
  EXPECT_FALSE(instance.occupancy.forget_unplaced(one));
  EXPECT_TRUE(instance.empty());
}

// Bug: it got other work, beyond its room.
TEST(OccupancyTest, AHostTakesNoWorkWhileAttemptsRunThereWhoseNeedsAreNotKnown) {
  Instance instance = instance_in(InstanceState::kIdle);
  ASSERT_TRUE(instance.takes_work());
  const model::AttemptId one{{7}, 1}, other{{8}, 1};
  instance.occupancy.leave_alone(one, model::AttemptPhase::kRunning);
  EXPECT_FALSE(instance.takes_work());
  instance.occupancy.leave_alone(one, model::AttemptPhase::kEnded);
  EXPECT_TRUE(instance.takes_work());
  EXPECT_TRUE(instance.occupancy.forget_unplaced(one));
  instance.occupancy.await_end(other);
  EXPECT_FALSE(instance.takes_work());
  EXPECT_FALSE(instance.occupancy.in_use()) << "one that never ends keeps no host";
  EXPECT_TRUE(instance.occupancy.forget_unplaced(other));
  EXPECT_TRUE(instance.takes_work());
}

TEST(OccupancyTest, AHostThatIsLentTakesNoWork) {
  Instance instance = instance_in(InstanceState::kIdle);
  const WorkId lease{7, WorkKind::kLease};
  instance.occupancy.add(Claim{lease, kHalf, true});
  EXPECT_TRUE(instance.occupancy.is_lent());
  EXPECT_FALSE(instance.takes_work());
  instance.occupancy.remove(lease);
  EXPECT_FALSE(instance.occupancy.is_lent());
  EXPECT_TRUE(instance.takes_work());
}

TEST(OccupancyTest, AHostWithALeaseIsBusyAndNeverEndsAsIdle) {
  Instance instance = instance_in(InstanceState::kIdle);
  instance.occupancy.add(Claim{{7, WorkKind::kLease}, kHalf});
  (void)work_changed(instance, pool(), at(1min));
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_FALSE(instance.empty());

  instance.occupancy.remove(WorkId{7, WorkKind::kLease});
  (void)work_changed(instance, pool(), at(2min));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
}

}  // namespace
}  // namespace hostler::fleet
