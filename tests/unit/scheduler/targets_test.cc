// What a pool should hold, from its work, minimum, standby and `stopped`.
#include <gtest/gtest.h>

#include "core/scheduler/targets.h"

namespace hostler::scheduler {
namespace {

PoolNumbers pool_of(std::int32_t min, std::int32_t standby, std::int32_t stopped = 0) {
  PoolNumbers out;
  out.started = {{min, ""}, {10, ""}};
  out.standby = {standby, ""};
  out.stopped = {stopped, ""};
  return out;
}

TEST(TargetsTest, APoolWithoutNumbersHoldsWhatItsWorkUses) {
  const Target target = target_of(pool_of(0, 0), 3);
  EXPECT_EQ(target.alive, 3);
  EXPECT_EQ(target.empty, 0);
  EXPECT_EQ(target.off, 0);
  EXPECT_EQ(target.min, 0);
  EXPECT_EQ(target.max, 10);
  EXPECT_EQ(target.reason, TargetReason::kWork);
}

TEST(TargetsTest, TheMinimumCountsHostsInUseAndTheStandbyComesOnTop) {
  EXPECT_EQ(target_of(pool_of(4, 0), 3).alive, 4);
  EXPECT_EQ(target_of(pool_of(4, 0), 5).alive, 5);
  EXPECT_EQ(target_of(pool_of(4, 2), 3).alive, 5);
  EXPECT_EQ(target_of(pool_of(4, 2), 1).alive, 4);
  EXPECT_EQ(target_of(pool_of(4, 2), 1).empty, 2);
}

TEST(TargetsTest, TheReasonIsWhatMakesTheNumberSoLarge) {
  EXPECT_EQ(target_of(pool_of(4, 2), 1).reason, TargetReason::kMinimum);
  EXPECT_EQ(target_of(pool_of(4, 2), 2).reason, TargetReason::kStandby);
  EXPECT_EQ(target_of(pool_of(4, 0), 4).reason, TargetReason::kWork);
}

TEST(TargetsTest, AHostBelowTheMinimumIsMissingForTheMinimumAndTheNextOnesForTheStandby) {
  const auto pool = pool_of(2, 2);
  PoolHosts hosts{.alive = 1, .empty = 0, .off = 0};
  const Target target = target_of(pool, hosts.in_use());
  EXPECT_EQ(target.missing(hosts), 2);
  EXPECT_EQ(text_of(target.why_missing(hosts), pool, "p"), "minimum of 2 in pool p");
  ++hosts.alive, ++hosts.empty;
  EXPECT_EQ(target.missing(hosts), 1);
  EXPECT_EQ(text_of(target.why_missing(hosts), pool, "p"), "standby of 2 in pool p");
  ++hosts.alive, ++hosts.empty;
  EXPECT_EQ(target.missing(hosts), 0);
}

TEST(TargetsTest, NoHostWithoutWorkIsKeptBeyondTheMaximum) {
  EXPECT_EQ(target_of(pool_of(0, 4), 8).alive, 10);
  EXPECT_EQ(target_of(pool_of(0, 4), 12).alive, 12) << "those in use stay";
  EXPECT_EQ(target_of(pool_of(0, 4), 5).alive, 9);
}

TEST(TargetsTest, OfTheCreatedHostsThoseThatNeedNotBeAliveAreSwitchedOff) {
  PoolNumbers pool = pool_of(1, 0, 2);
  pool.created.min.value = 5;
  EXPECT_EQ(target_of(pool, 0).off, 4);
  EXPECT_EQ(target_of(pool, 0).reason_off, TargetReason::kCreated);
  EXPECT_EQ(target_of(pool, 3).off, 2);
  EXPECT_EQ(target_of(pool, 3).reason_off, TargetReason::kStopped) << "both say so";
  EXPECT_EQ(target_of(pool, 7).off, 2);
  pool.created.max.value = 6;
  EXPECT_EQ(target_of(pool, 5).off, 1);
  EXPECT_EQ(target_of(pool, 7).off, 0);
}

TEST(TargetsTest, AHostThatIsAliveBeyondTheTargetCountsAsOneThatWillBeSwitchedOff) {
  const Target target = target_of(pool_of(1, 0, 2), 0);
  EXPECT_EQ(target.missing_off({.alive = 1, .empty = 1, .off = 0}), 2);
  EXPECT_EQ(target.missing_off({.alive = 2, .empty = 2, .off = 0}), 1);
  EXPECT_EQ(target.missing_off({.alive = 2, .empty = 2, .off = 1}), 0);
  EXPECT_EQ(target.missing_off({.alive = 0, .empty = 0, .off = 2}), 1)
      << "one of those that are off is to be woken";
}

}  // namespace
}  // namespace hostler::scheduler
