// Which hosts go because of bounds, when, and what is done before that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scheduler/lifetime.h"
#include "core/scheduler/shutdown_rule.h"
#include "tests/unit/scheduler/scaling_site.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::uint64_t> closed_ids(const Plan& plan) {
  std::vector<std::uint64_t> out;
  for (const Close& one : plan.closed) out.push_back(one.host.value);
  return out;
}

std::vector<std::uint64_t> ends(const Plan& plan) {
  std::vector<std::uint64_t> out;
  for (const Shutdown& one : plan.shutdowns) out.push_back(one.host.value);
  return out;
}

// ---- which: F-W11, where the lowest ids went, whatever they did
// -------------------------------------------------------------------------------

TEST(LeaveOrderTest, FW11TheLeastLoadedGoFirstAndUnknownLoadLast) {
  ScalingSite site;
  site.pool().scaling.rank = "connections";
  site.hosts(4);
  site.at(1).rank = 50;
  site.at(2).rank = 7;
  site.at(4).rank = -1;
  site.started(0, 2);
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(2, 4));
  site.started(0, 1);
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(1, 2, 4)) << "3 may be the busiest";
  site.started(0, 20);
  EXPECT_THAT(ends(site.plan()), ElementsAre(4, 2, 1, 3)) << "idle ones, too";
}

TEST(LeaveOrderTest, OfEqualLoadTheZoneWithMostHostsGivesOne) {
  ScalingSite site;
  site.pool().sizes.texts.max = "n";
  site.snapshot.offerings.push_back(site.snapshot.offerings[site.small]);
  site.snapshot.offerings[site.small].zone = "a";
  site.snapshot.offerings.back().zone = "b";
  site.hosts(6);
  site.at(1).offering = site.at(6).offering = 1;
  site.started(0, 4);
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(4, 5)) << "2 of 4 in a, the newest";
  site.started(0, 2);
  EXPECT_THAT(closed_ids(site.plan()), SizeIs(4));
  EXPECT_THAT(closed_ids(site.plan()), testing::Contains(6)) << "one is left in each";
  EXPECT_THAT(closed_ids(site.plan()), testing::Not(testing::Contains(1)));
}

// A bug: the load came before the price, so a cheap host went and a dear one stayed.
TEST(LeaveOrderTest, TheDearestIdleHostsGoFirstWhateverTheirLoadIs) {
  ScalingSite site;
  site.pool().scaling.rank = "connections";
  site.hosts(4);
  for (const std::uint64_t id : {2, 3}) site.at(id).price_per_hour = {200};
  site.at(1).rank = 1;
  site.at(2).rank = 9;
  site.at(3).rank = 5;
  site.at(4).rank = 0;
  EXPECT_THAT(ends(site.plan()), ElementsAre(3, 2, 4, 1)) << "of equal price the least loaded";
}

TEST(LeaveOrderTest, WithoutTextAndRankTheOrderIsAsEver) {
  ScalingSite site;
  site.hosts(4);
  site.at(1).rank = 1;
  site.pool().sizes.max = 3;
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(4)) << "the newest";
}

TEST(LeaveOrderTest, APlanDoesNotDependOnRanksThatAreNoNumbers) {
  ScalingSite site;
  site.pool().scaling.rank = "connections";
  site.hosts(4);
  for (HostView& h : site.snapshot.hosts) h.rank = std::nan("");
  site.at(2).rank = 3;
  site.started(0, 3);
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(2));
}

// ---- when: a minimum lifetime
// -------------------------------------------------------------------------------

TEST(LifetimeTest, AYoungHostDoesNotGoBecauseOfBounds) {
  ScalingSite site;
  site.pool().scaling.lifetime_min = 10min;
  site.pool().sizes.stopped = 0;
  for (std::uint64_t id = 1; id <= 3; ++id) site.add(id, HostPhase::kReady, 9min);
  site.add(4, HostPhase::kStopped, 9min);
  EXPECT_TRUE(does_nothing(site.plan())) << "idle, and one is switched off beyond `stopped`";
  EXPECT_EQ(end_of_youth(site.at(1), site.pool()), site.snapshot.now + 1min);
  site.started(0, 1);
  EXPECT_TRUE(does_nothing(site.plan())) << "beyond the maximum";
  site.snapshot.now += 1min;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(4));
}

TEST(LifetimeTest, OldHostsGoInPlaceOfYoungOnes) {
  ScalingSite site;
  site.pool().scaling.lifetime_min = 10min;
  site.add(1);
  site.add(2, HostPhase::kReady, 1min);
  site.add(3);
  site.started(0, 1);
  EXPECT_THAT(closed_ids(site.plan()), ElementsAre(1, 3));
  EXPECT_THAT(ends(site.plan()), ElementsAre(1, 3));
}

TEST(LifetimeTest, WhatIsNoBoundEndsAYoungHost) {
  ScalingSite site;
  site.pool().scaling.lifetime_min = 1h;
  site.add(1, HostPhase::kReady, 30min).unreachable_since = site.snapshot.now - 20min;
  site.add(2, HostPhase::kReady, 1min).draining = true;
  site.add(3, HostPhase::kReady, 1min).offering = UINT32_MAX;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(3));
}

// ---- what is done before: drains
// -------------------------------------------------------------------------------

struct DrainSite : ScalingSite {
  DrainSite() { pool().scaling.drain.emplace(); }
};

TEST(DrainTest, AHostThatBoundsLetGoDrainsFirstOnce) {
  DrainSite site;
  site.hosts(3);
  site.started(1, 20);
  const Plan plan = site.plan();
  EXPECT_THAT(drained(plan), SizeIs(2));
  EXPECT_EQ(plan.drains[0].reason, "idle for 1 h, idle timeout 0 ns");
  EXPECT_THAT(plan.shutdowns, IsEmpty());
  site.apply(plan);
  EXPECT_TRUE(does_nothing(site.plan())) << "while the drains are under way";
}

TEST(DrainTest, ADrainedHostGoesWhenItIsEmpty) {
  DrainSite site;
  site.hosts(2);
  site.at(1).drain = site.at(2).drain = DrainPhase::kOver;
  site.at(2).busy = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(std::pair(1, model::Reason::kDrained)));
}

TEST(DrainTest, AHostThatDrainsCountsInNoBoundAndGetsNoWork) {
  DrainSite site;
  site.hosts(2);
  site.at(1).drain = DrainPhase::kUnderWay;
  site.started(2, 20);
  site.jobs(2, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 1), 0U);
  EXPECT_EQ(placed_on(plan, 2), 2U);
  EXPECT_THAT(plan.creates, SizeIs(1)) << "the minimum of 2 replaces it";
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(DrainTest, ADrainThatBeganIsNotUndoneByARisingBound) {
  DrainSite site;
  site.hosts(1);
  site.at(1).drain = DrainPhase::kOver;
  site.started(5, 20);
  EXPECT_THAT(ended(site.plan()), ElementsAre(std::pair(1, model::Reason::kDrained)));
}

TEST(DrainTest, WhereCreatedBoundsKeepItADrainedHostIsSwitchedOff) {
  DrainSite site;
  site.hosts(3);
  site.started(0, 1);
  site.created(3, 3);
  Plan plan = site.plan();
  EXPECT_THAT(drained(plan), SizeIs(3));
  EXPECT_THAT(plan.creates, IsEmpty());
  site.apply(plan);
  EXPECT_TRUE(does_nothing(site.plan())) << "nothing is created beside hosts that will be off";
  site.settle();
  plan = site.plan();
  ASSERT_THAT(plan.switch_offs, SizeIs(3));
  EXPECT_EQ(plan.switch_offs[0].code, model::Reason::kDrained);
  site.apply(plan);
  EXPECT_TRUE(does_nothing(site.plan()));
}

TEST(DrainTest, APoolWithSwitchedOffStandbyKeepsADrainedHost) {
  DrainSite site;
  site.pool().sizes.stopped = 1;
  site.hosts(2);
  site.apply(site.plan());
  EXPECT_TRUE(does_nothing(site.plan()));
  site.settle();
  const Plan plan = site.plan();
  EXPECT_THAT(plan.switch_offs, SizeIs(1));
  EXPECT_THAT(plan.shutdowns, SizeIs(1));
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST(DrainTest, ABootingHostNeedsNone) {
  DrainSite site;
  site.hosts(1);
  site.add(2, HostPhase::kComing);
  site.started(0, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(ends(plan), ElementsAre(2));
  EXPECT_THAT(drained(plan), ElementsAre(1)) << "it is idle";
}

TEST(DrainTest, NoMoreDrainThanMayEnd) {
  DrainSite site;
  site.hosts(5);
  site.snapshot.pools[0].destroys = 2;
  EXPECT_THAT(site.plan().drains, SizeIs(2));
  site.created(0, 10);
  EXPECT_THAT(site.plan().drains, SizeIs(5)) << "a host that is switched off does not end";
}

// A bug: the limit of destroys went to new drains again and again, and those that were over stayed.
TEST(DrainTest, AHostWhoseDrainIsOverGoesBeforeANewDrainBegins) {
  DrainSite site;
  site.hosts(5);
  site.at(5).drain = DrainPhase::kOver;
  site.snapshot.pools[0].destroys = 1;
  site.started(0, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(ends(plan), ElementsAre(5));
  EXPECT_THAT(plan.drains, IsEmpty());
}

TEST(DrainTest, ADrainedHostStaysWhileItIsUnknownWhetherItCanBeSwitchedOff) {
  DrainSite site;
  site.hosts(1);
  site.created(1, 1);
  site.at(1).drain = DrainPhase::kOver;
  site.at(1).can_stop = false;
  site.at(1).power_unknown = true;
  EXPECT_TRUE(does_nothing(site.plan()));
  site.at(1).power_unknown = false;
  EXPECT_THAT(ends(site.plan()), ElementsAre(1)) << "now it is known that it cannot be";
}

TEST(DrainTest, WhatCannotWaitEndsAHostThatDrains) {
  DrainSite site;
  site.hosts(2);
  for (HostView& h : site.snapshot.hosts) h.drain = DrainPhase::kUnderWay;
  site.at(1).unreachable_since = site.snapshot.now - 20min;
  site.at(2).cordoned = true;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(2));
  EXPECT_FALSE(
      still_true(model::Reason::kDrained, site.at(1), Closed::kNo, site.pool(), site.snapshot.now));
}

}  // namespace
}  // namespace hostler::scheduler
