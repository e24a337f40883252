// Bounds of started hosts wake and switch off, those of created hosts create and destroy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/scaling_site.h"

namespace hostler::scheduler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(CreatedBoundsPlanTest, WhatStartedBoundsDoNotWantIsSwitchedOffAndNotEnded) {
  ScalingSite site;
  site.hosts(5);
  site.started(2, 20);
  site.created(0, 10);
  const Plan plan = site.plan();
  EXPECT_THAT(switched_off(plan), SizeIs(3));
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(CreatedBoundsPlanTest, HostsBeyondTheMaximumAreSwitchedOffAtOnce) {
  ScalingSite site;
  site.pool().idle_timeout = 1h;
  site.hosts(5);
  for (HostView& h : site.snapshot.hosts) h.since = site.snapshot.now - 1s;
  site.started(0, 2);
  site.created(0, 10);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.switch_offs, SizeIs(3)) << "whatever their idle timeout is";
  EXPECT_EQ(plan.switch_offs[0].code, model::Reason::kBeyondMax);
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(CreatedBoundsPlanTest, BeyondTheMaximumOfCreatedHostsSwitchedOffOnesEndFirst) {
  ScalingSite site;
  site.hosts(4, 2);
  site.started(0, 2);
  site.created(0, 4);
  const Plan plan = site.plan();
  EXPECT_THAT(ended(plan), UnorderedElementsAre(std::pair(5, model::Reason::kStandbySurplus),
                                                std::pair(6, model::Reason::kStandbySurplus)));
  EXPECT_THAT(plan.switch_offs, SizeIs(4)) << "2 are beyond the maximum, 2 are idle";
}

TEST(CreatedBoundsPlanTest, AliveHostsEndIfThereAreTooMany) {
  ScalingSite site;
  site.hosts(5);
  site.started(0, 3);
  site.created(0, 3);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.shutdowns, SizeIs(2));
  EXPECT_THAT(plan.switch_offs, SizeIs(3));
}

TEST(CreatedBoundsPlanTest, AStartedMinimumWakesFirstAndCreatesAsFarAsCreatedHostsMay) {
  ScalingSite site;
  site.hosts(1, 2);
  site.started(9, 20);
  site.created(0, 5);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.wakes, SizeIs(2));
  EXPECT_THAT(plan.creates, SizeIs(2));
}

TEST(CreatedBoundsPlanTest, HostsThatCannotBeSwitchedOffEnd) {
  ScalingSite site;
  site.snapshot.offerings[site.small].can_stop = false;
  site.hosts(4);
  site.started(0, 2);
  site.created(1, 10);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.switch_offs, IsEmpty());
  EXPECT_THAT(plan.shutdowns, SizeIs(3)) << "one stays on for the minimum of created hosts";
}

// A bug: hosts beyond the maximum did not count for the minimum of created ones, and ended though
// it needed them. Nothing came in their place, as there was no room below the maximum.
TEST(CreatedBoundsPlanTest, TheMinimumOfCreatedHostsKeepsWhatCannotBeSwitchedOffBeyondTheMaximum) {
  ScalingSite site;
  site.snapshot.offerings[site.small].can_stop = false;
  site.hosts(6);
  site.started(0, 2);
  site.created(4, 10);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.shutdowns, SizeIs(2));
  site.apply(plan);
  site.settle();
  EXPECT_TRUE(does_nothing(site.plan()));
  EXPECT_EQ(site.count(HostPhase::kReady), 4);
}

// A bug: until their set was open for the first time no host could be switched off, so those that
// bounds let go ended.
TEST(CreatedBoundsPlanTest, HostsStayWhileItIsUnknownWhetherTheyCanBeSwitchedOff) {
  ScalingSite site;
  site.hosts(5);
  for (HostView& h : site.snapshot.hosts) h.can_stop = false, h.power_unknown = true;
  site.started(0, 2);
  site.created(0, 10);
  EXPECT_TRUE(does_nothing(site.plan())) << "3 are beyond the maximum, 2 are idle";
  site.created(4, 4);
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1)) << "none can be switched off in its place";
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.created(0, 10);
  for (HostView& h : site.snapshot.hosts) h.can_stop = true, h.power_unknown = false;
  EXPECT_THAT(switched_off(site.plan()), SizeIs(5));
}

// The first start of a fleet that is to stand by: it boots, and is then switched off.
TEST(CreatedBoundsPlanTest, ZeroStartedHostsStillCreateWhatIsToStandBy) {
  ScalingSite site;
  site.started(0, 0);
  site.created(3, 3);
  Plan plan = site.plan();
  EXPECT_THAT(plan.creates, SizeIs(3)) << "beyond the maximum of started hosts";
  site.apply(plan);
  EXPECT_TRUE(does_nothing(site.plan())) << "while they boot";
  site.settle();
  plan = site.plan();
  EXPECT_THAT(plan.switch_offs, SizeIs(3));
  EXPECT_THAT(plan.shutdowns, IsEmpty());
  site.apply(plan);
  EXPECT_TRUE(does_nothing(site.plan()));
  EXPECT_EQ(site.count(HostPhase::kStopped), 3);
}

TEST(CreatedBoundsPlanTest, ZeroOfAllEndsAllAndComesBack) {
  ScalingSite site;
  site.hosts(2, 2);
  site.started(0, 0);
  site.created(0, 0);
  site.apply(site.plan());
  site.settle();
  EXPECT_THAT(site.snapshot.hosts, IsEmpty());
  site.started(2, 5);
  site.created(2, 5);
  EXPECT_THAT(site.plan().creates, SizeIs(2)) << "of the types of the pool: no clone is needed";
}

// F-W15, F-W13: one action a tick, and destroys before starts, thrashed for many ticks.
TEST(CreatedBoundsPlanTest, FW15OnePlanWakesWhatIsNeededAndEndsWhatIsTooMuch) {
  ScalingSite site;
  site.hosts(1, 9);
  site.started(4, 4);
  site.created(6, 6);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.wakes, SizeIs(3));
  EXPECT_THAT(plan.shutdowns, SizeIs(4));
  site.apply(plan);
  site.settle();
  EXPECT_TRUE(does_nothing(site.plan()));
}

TEST(CreatedBoundsPlanTest, AMinimumAloneEndsNothing) {
  ScalingSite site;
  site.hosts(5);
  site.say(BoundOf::kCreatedMin, 2);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.shutdowns, IsEmpty()) << "no maximum says that there are too many";
  EXPECT_THAT(plan.switch_offs, SizeIs(5));
}

TEST(CreatedBoundsPlanTest, UnknownCreatedBoundsEndNothingAndSwitchNothingOff) {
  ScalingSite site;
  site.hosts(3, 3);
  site.created(-1, -1);
  EXPECT_TRUE(does_nothing(site.plan()));
  site.started(0, 1);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  EXPECT_THAT(site.plan().switch_offs, SizeIs(2)) << "a known maximum of started hosts";
}

TEST(CreatedBoundsPlanTest, AHostWithWorkIsSwitchedOffOnceItIsEmpty) {
  ScalingSite site;
  site.hosts(3);
  site.occupy(site.at(3), {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0});
  site.occupy(site.at(2), {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0});
  site.occupy(site.at(1), {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0});
  site.started(0, 1);
  site.created(3, 3);
  const Plan plan = site.plan();
  EXPECT_TRUE(does_nothing(plan)) << "and none is created for those that will be switched off";
  EXPECT_THAT(plan.closed, SizeIs(2));
}

// ---- texts
// -------------------------------------------------------------------------------

TEST(TextBoundsTest, ATextThatNobodyEvaluatedHoldsWhatIsThere) {
  ScalingSite site;
  site.hosts(3);
  site.pool().sizes = {.min = 0, .max = 1};
  site.pool().sizes.texts.max = "ceil(rps / 100)";
  const PoolNumbers numbers =
      numbers_of(site.policy, site.snapshot.bounds, site.snapshot.hosts, {}, 0);
  EXPECT_EQ(numbers.started.max.text(),
            "3 (as now, expression does not know: it was not evaluated)")
      << "not 1, which stands beside the text";
  EXPECT_TRUE(numbers.goes_by_load);
  site.pool().sizes.texts = {.min = "9", .max = {}, .created_min = {}, .created_max = {}};
  site.pool().sizes.max = 10;
  EXPECT_TRUE(does_nothing(site.plan())) << "an unknown minimum keeps them, idle or not";
}

TEST(TextBoundsTest, WhatTheExpressionSaysIsTheBound) {
  ScalingSite site;
  site.hosts(3);
  site.pool().sizes.texts.created_max = "n";
  site.pool().sizes.created_max = 100;
  site.created(0, 2);
  const PoolNumbers numbers =
      numbers_of(site.policy, site.snapshot.bounds, site.snapshot.hosts, {}, 0);
  EXPECT_EQ(numbers.created.max.text(), "2 (expression)");
  EXPECT_TRUE(numbers.has_created);
  site.snapshot.bounds.clear();
  EXPECT_EQ(numbers_of(site.policy, {}, site.snapshot.hosts, {}, 0).created.max.value, 3);
}

TEST(TextBoundsTest, NumbersOfTheConfigurationBoundWhatAnExpressionSays) {
  ScalingSite site;
  site.pool().sizes.max = 20;
  site.pool().sizes.texts.min = "rps";
  site.say(BoundOf::kStartedMin, 500);
  EXPECT_THAT(site.plan().creates, SizeIs(20)) << "the maximum wins between sources";
}

}  // namespace
}  // namespace hostler::scheduler
