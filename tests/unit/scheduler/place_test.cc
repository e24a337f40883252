#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PlacementTest, PlacesTheHighestPriorityFirst) {
  Site site;
  site.host(1, site.type("small", 1, 4, 100));
  const demand::ClassId urgent = site.jobs(1, 1, 1, 9);
  site.jobs(1, 1, 1, 0);

  EXPECT_EQ(placed(site.plan(), urgent), 1U);
}

TEST(PlacementTest, ServesClassesOfOnePriorityByArrival) {
  Site site;
  site.host(1, site.type("big", 4, 64, 100));
  const demand::ClassId a = site.jobs(4, 1, 1), b = site.jobs(4, 1, 2);
  site.snapshot.classes[a].heads = {{0, 1}, {0, 4}, {0, 7}, {0, 8}};
  site.snapshot.classes[b].heads = {{0, 2}, {0, 3}, {0, 5}, {0, 6}};

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, a), 2U) << "arrivals 1 and 4";
  EXPECT_EQ(placed(plan, b), 2U) << "arrivals 2 and 3";
}

TEST(PlacementTest, LetsLaterWorkPassWhatDoesNotFit) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100));
  const demand::ClassId big = site.jobs(1, 4), small = site.jobs(2, 1);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, big), 0U);
  EXPECT_EQ(placed(plan, small), 2U);
}

TEST(PlacementTest, TakesTheTightestHost) {
  Site site;
  site.host(1, site.type("big", 8, 32, 800));
  site.host(2, site.type("small", 2, 4, 100));
  site.jobs(1, 2);

  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
}

TEST(PlacementTest, PrefersFullerHostsSoThatEmptyOnesCanGo) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100));
  site.occupy(site.host(2, site.type("big", 8, 32, 800)), {.vcpus = 1, .ram = kGiB});
  site.jobs(3, 2, 2);

  EXPECT_EQ(placed_on(site.plan(), 2), 3U);
}

TEST(PlacementTest, LeavesHostsWithGpusToWorkThatNeedsThem) {
  Site site;
  const auto gpu = site.type("gpu", 2, 8, 100), plain = site.type("plain", 4, 8, 100);
  HostView& with_gpu = site.host(1, gpu);
  with_gpu.total.gpus = with_gpu.free.gpus = 1;
  site.host(2, plain);
  site.jobs(1, 2);

  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
}

TEST(PlacementTest, NeverPlacesPastAnyResource) {
  Site site;
  site.host(1, site.type("small", 8, 4, 100));
  const demand::ClassId cls = site.jobs(8, 1, 2);
  EXPECT_EQ(placed(site.plan(), cls), 2U) << "ram";

  site.snapshot.hosts[0].attempts_left = 1;
  EXPECT_EQ(placed(site.plan(), cls), 1U) << "attempts in parallel";
}

TEST(PlacementTest, PutsWorkOnlyOnHostsThatTakeIt) {
  Site site;
  site.host(1, site.type("small", 8, 4, 100)).takes_work = false;
  site.host(2, 0, HostPhase::kComing);
  site.host(3, 0, HostPhase::kLeaving).takes_work = true;
  site.jobs(1, 1);

  EXPECT_THAT(site.plan().places, IsEmpty());
}

TEST(PlacementTest, RespectsConstraints) {
  Site site;
  site.host(1, site.type("spot", 2, 4, 100, Market::kSpot, "z1"));
  site.host(2, site.type("steady", 2, 4, 100, Market::kOnDemand, "z2"));
  const demand::ClassId cls = site.jobs(1, 1);

  site.constraints(cls).types = {"steady"};
  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
  site.constraints(cls) = {.types = {}, .market = Market::kSpot, .zone = "", .pools = {}};
  EXPECT_EQ(placed_on(site.plan(), 1), 1U);
  site.constraints(cls) = {.types = {}, .market = {}, .zone = "z2", .pools = {}};
  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
  site.constraints(cls) = {.types = {}, .market = {}, .zone = "z3", .pools = {}};
  EXPECT_THAT(site.plan().places, IsEmpty());
}

TEST(PlacementTest, PlacesNothingOnAHostWhoseTypeLeftTheMenu) {
  Site site;
  site.host(1, site.type("old", 2, 4, 100)).offering = UINT32_MAX;
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().places, IsEmpty());
}

// ---- starvation --------------------------------------------------------------------------------

/// A full host of 4 vcpus at a ceiling, one of them just free; a job of 4 waits long, one of 1
/// only now.
class StarvationTest : public testing::Test {
 protected:
  StarvationTest() {
    site.pool().sizes.max = 1;
    site.occupy(site.host(1, site.type("big", 4, 16, 400)), {.vcpus = 3, .ram = kGiB});
    large = site.jobs(1, 4, 1, 0, 10min);
    small = site.jobs(9, 1);
  }
  Site site;
  demand::ClassId large = 0, small = 0;
};

TEST_F(StarvationTest, ReservesAHostForTheOldestItemOnceItHasWaitedLong) {
  const Plan plan = site.plan();
  ASSERT_THAT(plan.reservations, SizeIs(1));
  EXPECT_EQ(plan.reservations[0].host.value, 1U);
  EXPECT_EQ(plan.reservations[0].cls, large);

  site.snapshot.classes[0].oldest = site.snapshot.now - 10min + 1ns;
  EXPECT_THAT(site.plan().reservations, IsEmpty());
}

TEST_F(StarvationTest, PutsNothingElseOnAReservedHost) {
  site.snapshot.hosts[0].reserved_for = large;
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.reservations, SizeIs(1)) << "it holds until the item got its place";
}

TEST_F(StarvationTest, GivesTheHostToTheItemWhenItIsEmptyEnough) {
  site.snapshot.hosts[0].reserved_for = large;
  site.snapshot.hosts[0].free = site.snapshot.hosts[0].total;
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, large), 1U);
  EXPECT_THAT(plan.reservations, IsEmpty());
}

TEST_F(StarvationTest, DropsAReservationWhoseClassIsGone) {
  site.snapshot.hosts[0].reserved_for = demand::ClassId{77};
  EXPECT_EQ(placed(site.plan(), small), 1U);
}

TEST_F(StarvationTest, DoesNotReserveWhatCanNeverHoldTheItem) {
  site.snapshot.classes[0].shape.needs.vcpus = 5;
  EXPECT_THAT(site.plan().reservations, IsEmpty());
}

TEST_F(StarvationTest, NeverShutsDownAReservedHost) {
  HostView& host = site.snapshot.hosts[0];
  host.busy = false;
  host.free = host.total;
  host.free.vcpus = 3;  // what runs there has not been told off yet
  host.since = site.snapshot.now - 1h;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: hosts that came up one by one got other work than they were bought for, and the rest needed
// more hosts.
TEST(PlacementTest, ANewHostFirstGetsWhatItWasMadeFor) {
  Site site;
  const auto small = site.type("small", 4, 8, 100);
  const demand::ClassId first = site.jobs(4, 1), own = site.jobs(2, 2);
  HostView& host = site.host(1, small);
  EXPECT_EQ(placed(site.plan(), first), 4U);
  host.load = {{own, 2}};
  EXPECT_EQ(placed(site.plan(), own), 2U);
  EXPECT_EQ(placed(site.plan(), first), 0U);
  host.load = {{own, 1}};
  EXPECT_EQ(placed(site.plan(), own), 1U);
  EXPECT_EQ(placed(site.plan(), first), 2U) << "the rest is for whose turn is next";
}

TEST(PlacementTest, MoreUrgentWorkGoesBeforeWhatAHostWasMadeFor) {
  Site site;
  const auto small = site.type("small", 4, 8, 100);
  const demand::ClassId urgent = site.jobs(3, 1, 1, 1), own = site.jobs(2, 2);
  site.host(1, small).load = {{own, 2}};
  EXPECT_EQ(placed(site.plan(), urgent), 3U);
  EXPECT_EQ(placed(site.plan(), own), 0U);
}

TEST(PlacementTest, WhatDoesNotFitTheHostThatCameIsLeftOut) {
  Site site;
  const auto small = site.type("small", 4, 8, 100);
  const demand::ClassId other = site.jobs(1, 1), own = site.jobs(1, 4);
  HostView& host = site.host(1, small);
  host.load = {{own, 1}};
  host.total = host.free = {.vcpus = 3, .gpus = 0, .ram = 8 * kGiB, .scratch = 0};
  EXPECT_EQ(placed(site.plan(), own), 0U);
  EXPECT_EQ(placed(site.plan(), other), 1U);
}

}  // namespace
}  // namespace hostler::scheduler
