#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// ---- placement ---------------------------------------------------------------------------------

TEST(PlacementTest, PlacesTheHighestPriorityFirst) {
  Site site;
  site.host(1, site.type("small", 1, 4, 100));
  const ClassId urgent = site.jobs(1, 1, 1, 9);
  site.jobs(1, 1, 1, 0);

  EXPECT_EQ(placed(site.plan(), urgent), 1U);
}

TEST(PlacementTest, ServesClassesOfOnePriorityByArrival) {
  Site site;
  site.host(1, site.type("big", 4, 64, 100));
  const ClassId a = site.jobs(4, 1, 1), b = site.jobs(4, 1, 2);
  site.snapshot.classes[a].heads = {1, 4, 7, 8};
  site.snapshot.classes[b].heads = {2, 3, 5, 6};

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, a), 2U) << "arrivals 1 and 4";
  EXPECT_EQ(placed(plan, b), 2U) << "arrivals 2 and 3";
}

TEST(PlacementTest, LetsLaterWorkPassWhatDoesNotFit) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100));
  const ClassId big = site.jobs(1, 4), small = site.jobs(2, 1);

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
  const ClassId cls = site.jobs(8, 1, 2);
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
  const ClassId cls = site.jobs(1, 1);

  site.constraints(cls).types = {"steady"};
  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
  site.constraints(cls) = {.types = {}, .market = Market::kSpot, .zone = ""};
  EXPECT_EQ(placed_on(site.plan(), 1), 1U);
  site.constraints(cls) = {.types = {}, .market = {}, .zone = "z2"};
  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
  site.constraints(cls) = {.types = {}, .market = {}, .zone = "z3"};
  EXPECT_THAT(site.plan().places, IsEmpty());
}

TEST(PlacementTest, PlacesOnAHostWhoseTypeLeftTheMenuOnlyWhatIsUnconstrained) {
  Site site;
  site.host(1, site.type("old", 2, 4, 100)).offering = UINT32_MAX;
  const ClassId free = site.jobs(1, 1), bound = site.jobs(1, 1);
  site.constraints(bound).types = {"old"};

  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, free), 1U);
  EXPECT_EQ(placed(plan, bound), 0U);
}

// ---- starvation --------------------------------------------------------------------------------

/// A full host of 4 vcpus at a ceiling, one of them just free; a job of 4 waits long, one of 1
/// only now.
class StarvationTest : public testing::Test {
 protected:
  StarvationTest() {
    site.pool().max = 1;
    site.occupy(site.host(1, site.type("big", 4, 16, 400)), {.vcpus = 3, .ram = kGiB});
    large = site.jobs(1, 4, 1, 0, 10min);
    small = site.jobs(9, 1);
  }
  Site site;
  ClassId large = 0, small = 0;
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
  site.snapshot.hosts[0].reserved_for = ClassId{77};
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

// ---- what is coming ----------------------------------------------------------------------------

TEST(CoverTest, CreatesWhatIsMissingAndDoesNotRepeatIt) {
  Site site;
  site.type("small", 2, 4, 100);
  site.jobs(3, 1);

  const Plan first = site.plan();
  EXPECT_THAT(first.creates, SizeIs(2));

  site.apply(first);
  const Plan second = site.plan();
  EXPECT_THAT(second.creates, IsEmpty());
  EXPECT_THAT(second.shutdowns, IsEmpty());
}

TEST(CoverTest, CountsAComingHostWhoeverItWasFor) {
  Site site;
  site.host(1, site.type("small", 4, 8, 100), HostPhase::kComing);
  site.jobs(4, 1);

  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(CoverTest, DoesNotCountWhatLeavesOrIsHeld) {
  for (const int how : {0, 1, 2}) {
    Site site;
    HostView& host = site.host(1, site.type("small", 4, 8, 100), HostPhase::kComing);
    if (how == 0) host.phase = HostPhase::kLeaving;
    if (how == 1) host.kept = true;
    if (how == 2) host.draining = true;
    site.jobs(4, 1);
    EXPECT_THAT(site.plan().creates, SizeIs(1)) << how;
  }
}

// ---- creates -----------------------------------------------------------------------------------

TEST(GrowTest, TakesTheCheapestTypeThatFits) {
  Site site;
  site.type("large", 8, 32, 900);
  const auto cheap = site.type("medium", 4, 16, 400);
  site.type("small", 2, 4, 100);
  site.jobs(1, 4);

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, cheap);
  EXPECT_EQ(plan.creates[0].for_class, ClassId{0});
  EXPECT_EQ(plan.creates[0].reason, "1 waiting job needs it");
}

TEST(GrowTest, PacksSmallWorkTogetherWhereThatIsCheaper) {
  Site site;
  site.type("small", 1, 2, 100);
  const auto large = site.type("large", 8, 16, 400);
  site.jobs(8, 1);

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, large);
}

TEST(GrowTest, PassesOverShutGates) {
  Site site;
  const auto shut = site.type("small", 1, 2, 100);
  const auto open = site.type("other", 1, 2, 150);
  site.snapshot.offerings[shut].shut = "capacity: no small in z1";
  site.jobs(1, 1);

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, open);
}

TEST(GrowTest, StaysWithinThePriceFactor) {
  Site site;
  const auto shut = site.type("small", 1, 2, 100);
  site.type("dear", 1, 2, 201);
  site.snapshot.offerings[shut].shut = "capacity";
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().creates, IsEmpty());

  site.snapshot.offerings[1].price_per_hour = {200};
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(GrowTest, StaysBelowThePriceCap) {
  Site site;
  site.type("small", 1, 2, 100);
  site.jobs(1, 1);
  site.pool().price_cap_per_hour = {99};
  const Plan plan = site.plan();
  EXPECT_THAT(plan.creates, IsEmpty());
  ASSERT_THAT(plan.waiting, SizeIs(1));
  EXPECT_EQ(plan.waiting[0].code, "no_offering");
  EXPECT_THAT(plan.waiting[0].reason, HasSubstr("cap"));
}

// Bug: what nobody may buy was the cheapest fit, and all else waited for ever as too dear.
TEST(GrowTest, ComparesPricesOfWhatMayBeBoughtOnly) {
  for (const int how : {0, 1, 2}) {
    Site site;
    site.policy.pools.push_back(site.pool());
    site.pool(1).name = "other";
    site.snapshot.pools.resize(2);
    const auto small = site.type("small", 1, 2, 100);
    site.type("cheap", 1, 2, 10, Market::kOnDemand, "", 1);
    if (how == 0) site.pool(1).max = 0;
    if (how == 1) site.pool(1).min = 1001;
    if (how == 2) site.pool(1).price_cap_per_hour = {9};
    site.jobs(1, 1);
    const Plan plan = site.plan();
    ASSERT_THAT(plan.creates, SizeIs(1)) << how;
    EXPECT_EQ(plan.creates[0].offering, small) << how;
  }
}

TEST(GrowTest, APriceThatRoseIsNoReasonToFallBackAtOnce) {
  Site site;
  site.type("spot", 2, 4, 50, Market::kSpot);
  site.type("steady", 2, 4, 300);
  site.pool().price_cap_per_hour = {300};
  site.snapshot.offerings[0].price_per_hour = {301};
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.snapshot.classes[0].oldest = site.snapshot.now - 10min;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(GrowTest, NeverCreatesPastACeiling) {
  for (const int level : {0, 1, 2, 3, 4, 5}) {
    Site site;
    site.type("small", 1, 2, 100);
    site.jobs(10, 1);
    Headroom& room = level == 0   ? site.snapshot.site
                     : level == 1 ? site.snapshot.sets[0]
                                  : site.snapshot.pools[0];
    if (level <= 2) room.instances = 3;
    if (level == 3) room.creates = 3;
    if (level == 4) room.price_per_hour = model::Micros{399};
    if (level == 5) site.pool().max = 3;
    const Plan plan = site.plan();
    EXPECT_THAT(plan.creates, SizeIs(3)) << level;
    ASSERT_THAT(plan.waiting, SizeIs(1));
  }
}

TEST(GrowTest, AtACeilingTheHighestPriorityIsServedFirst) {
  Site site;
  site.type("small", 1, 2, 100);
  site.type("large", 4, 8, 390);
  const ClassId urgent = site.jobs(1, 1, 1, 5);
  const ClassId other = site.jobs(40, 4, 1, 0);
  site.snapshot.pools[0].instances = 1;

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].for_class, urgent);
  ASSERT_THAT(plan.waiting, SizeIs(2));
  EXPECT_EQ(plan.waiting[1].cls, other);
  EXPECT_EQ(plan.waiting[1].code, "at_ceiling");
}

TEST(GrowTest, RotatesZones) {
  Site site;
  for (const char* zone : {"z1", "z2", "z3"}) {
    site.type("small", 1, 2, 100, Market::kOnDemand, zone);
    site.snapshot.offerings.back().type = 0;
  }
  site.host(1, 1);
  site.snapshot.hosts[0].takes_work = false;
  site.jobs(5, 1);

  std::map<std::uint32_t, int> seen;
  for (const Create& create : site.plan().creates) ++seen[create.offering];
  EXPECT_THAT(seen, ElementsAre(Pair(0, 2), Pair(1, 1), Pair(2, 2)));
}

TEST(GrowTest, CreatesInTheZoneThatAJobAsksFor) {
  Site site;
  for (const char* zone : {"z1", "z2"}) {
    site.type("small", 2, 4, 100, Market::kOnDemand, zone);
    site.snapshot.offerings.back().type = 0;
  }
  const ClassId bound = site.jobs(3, 2);
  site.constraints(bound).zone = "z2";

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(3));
  for (const Create& create : plan.creates) EXPECT_EQ(create.offering, 1U);
}

TEST(GrowTest, WaitsForSpotBeforeItFallsBackToOnDemand) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto steady = site.type("steady", 2, 4, 300);
  site.snapshot.offerings[spot].shut = "capacity";
  site.jobs(1, 1, 1, 0, 10min - 1ns);
  Plan plan = site.plan();
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_EQ(plan.waiting[0].code, "gate_shut");

  site.snapshot.classes[0].oldest = site.snapshot.now - 10min;
  plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, steady);
}

TEST(GrowTest, ReplacesASpotRequestThatWasNotFulfilledInTime) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto steady = site.type("steady", 2, 4, 300);
  HostView& request = site.host(1, spot, HostPhase::kComing);
  request.unfulfilled_spot = true;
  request.created = request.since = site.snapshot.now - 10min;
  const ClassId cls = site.jobs(1, 1, 1, 0, 10min);

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, steady);
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, ShutdownCode::kUnwantedSpot)));

  site.constraints(cls).market = Market::kSpot;
  EXPECT_THAT(site.plan().creates, IsEmpty()) << "it wants spot and nothing else: it waits on";
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: the next zone was asked for spot, then the first again, for ever.
TEST(GrowTest, ASpotRequestInVainIsNotTriedInAnotherZone) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot, "z1");
  site.snapshot.offerings.push_back(site.snapshot.offerings[spot]);
  site.snapshot.offerings.back().zone = "z2";
  const auto steady = site.type("steady", 2, 4, 300);
  HostView& request = site.host(1, spot, HostPhase::kComing);
  request.unfulfilled_spot = true;
  request.created = request.since = site.snapshot.now - 10min;
  site.jobs(1, 1, 1, 0, 10min);

  const Plan plan = site.plan();

  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, steady);
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, ShutdownCode::kUnwantedSpot)));
}

// Bug: small work went to on_demand as long as a large request that has to be spot was pending.
TEST(GrowTest, ASpotRequestThatStaysTellsNothingOfOtherWork) {
  for (const bool held : {false, true}) {
    Site site;
    const auto small = site.type("spot", 2, 4, 50, Market::kSpot);
    const auto large = site.type("large spot", 8, 16, 200, Market::kSpot);
    site.type("steady", 2, 4, 300);
    HostView& request = site.host(1, large, HostPhase::kComing);
    request.unfulfilled_spot = true;
    request.kept = held;
    request.created = request.since = site.snapshot.now - 10min;
    if (!held) site.constraints(site.jobs(1, 8, 1, 0, 10min)).market = Market::kSpot;
    site.jobs(3, 2, 1, 0, 10min);

    const Plan plan = site.plan();

    for (const auto& create : plan.creates) EXPECT_EQ(create.offering, small) << held;
    EXPECT_THAT(ended(plan), IsEmpty()) << held;
  }
}

TEST(GrowTest, ASpotRequestInVainTellsNothingOfWorkThatItCannotHold) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto large = site.type("large spot", 8, 16, 200, Market::kSpot);
  site.type("steady", 8, 16, 300);
  HostView& request = site.host(1, spot, HostPhase::kComing);
  request.unfulfilled_spot = true;
  request.created = request.since = site.snapshot.now - 10min;
  site.jobs(1, 8, 1, 0, 10min);

  const Plan plan = site.plan();

  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, large);
}

TEST(GrowTest, HoldsAtMostAsManyAttemptsOnAHostAsThePoolAllows) {
  Site site;
  site.type("large", 8, 32, 100);
  site.pool().attempts_parallel_max = 2;
  site.jobs(8, 1);
  EXPECT_THAT(site.plan().creates, SizeIs(4));
}

TEST(GrowTest, TakesFreeTypesBySize) {
  Site site;
  site.type("large", 8, 32, 0);
  const auto small = site.type("small", 2, 4, 0);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, small);
}

// ---- minimum and standby -----------------------------------------------------------------------

TEST(StandbyTest, KeepsTheMinimumAndTheStandby) {
  Site site;
  const auto small = site.type("small", 1, 2, 100);
  site.type("large", 4, 8, 400);
  site.pool().min = 2;
  Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(2));
  EXPECT_EQ(plan.creates[0].offering, small);
  EXPECT_FALSE(plan.creates[0].for_class);
  EXPECT_EQ(plan.creates[0].reason, "minimum of 2 in pool default");

  site.apply(plan);
  EXPECT_THAT(site.plan().creates, IsEmpty());
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.pool().standby = 3;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(StandbyTest, StandbyIsBesideWhatWorks) {
  Site site;
  site.occupy(site.host(1, site.type("small", 1, 2, 100)), {.vcpus = 1});
  site.pool().min = 1;
  site.pool().standby = 1;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(StandbyTest, MinimumNeverPassesACeiling) {
  Site site;
  site.type("small", 1, 2, 100);
  site.pool().min = 5;
  site.snapshot.site.instances = 2;
  EXPECT_THAT(site.plan().creates, SizeIs(2));
}

// ---- shrinking ---------------------------------------------------------------------------------

TEST(ShrinkTest, ShutsDownAnIdleHostExactlyAtItsTimeout) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100)).since = site.snapshot.now - 1min + 1ns;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.snapshot.hosts[0].since = site.snapshot.now - 1min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, ShutdownCode::kIdle)));
}

TEST(ShrinkTest, GoesInTheOrderOfTheDesign) {
  Site site;
  const auto small = site.type("small", 1, 2, 100), dear = site.type("dear", 2, 4, 300),
             spot = site.type("spot", 1, 2, 10, Market::kSpot);
  const Mono long_ago = site.snapshot.now - 59min;
  site.host(1, small, HostPhase::kComing).created = site.snapshot.now - 5s;
  site.host(2, small, HostPhase::kComing).created = site.snapshot.now - 2s;
  site.host(3, small).draining = true;
  site.host(4, small).since = long_ago;
  site.host(5, dear).since = long_ago;
  site.host(6, small).unreachable_since = long_ago;
  site.host(8, spot, HostPhase::kComing).unfulfilled_spot = true;
  site.host(9, small, HostPhase::kStopped);

  EXPECT_THAT(
      ended(site.plan()),
      ElementsAre(Pair(8, ShutdownCode::kUnwantedSpot), Pair(9, ShutdownCode::kFailed),
                  Pair(6, ShutdownCode::kUnreachable), Pair(5, ShutdownCode::kIdle),
                  Pair(4, ShutdownCode::kIdle), Pair(3, ShutdownCode::kDrained),
                  Pair(2, ShutdownCode::kBootingSurplus), Pair(1, ShutdownCode::kBootingSurplus)));
}

TEST(ShrinkTest, NeverShutsDownWhatIsBusyOrHeld) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.host(1, small).since = Mono(0s);
  site.occupy(site.snapshot.hosts.back(), {.vcpus = 1});
  site.host(2, small).since = Mono(0s);
  site.snapshot.hosts.back().kept = true;
  site.host(3, small, HostPhase::kComing).busy = true;
  site.host(4, small, HostPhase::kStopped).kept = true;
  site.host(5, small).draining = true;
  site.snapshot.hosts.back().busy = true;

  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(ShrinkTest, DoesNotShutDownWhatItHasJustGivenWork) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100)).since = Mono(0s);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, SizeIs(1));
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(ShrinkTest, AnUnreachableHostIsKeptUntilTheProbeTimeout) {
  Site site;
  HostView& host = site.host(1, site.type("small", 2, 4, 100));
  site.occupy(host, {.vcpus = 1});
  host.unreachable_since = site.snapshot.now - 10min + 1ns;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.snapshot.hosts[0].unreachable_since = site.snapshot.now - 10min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, ShutdownCode::kUnreachable)));
}

TEST(ShrinkTest, KeepsMinimumAndStandby) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  for (const std::uint64_t id : {1U, 2U, 3U}) site.host(id, small).since = Mono(0s);
  site.pool().min = 2;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1));
  site.pool().min = 0;
  site.pool().standby = 3;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(ShrinkTest, StaysBelowTheCeilingOfDestroys) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  for (const std::uint64_t id : {1U, 2U, 3U}) site.host(id, small).since = Mono(0s);
  site.snapshot.sets[0].destroys = 2;
  EXPECT_THAT(ended(site.plan()),
              ElementsAre(Pair(1, ShutdownCode::kIdle), Pair(2, ShutdownCode::kIdle)));
}

TEST(ShrinkTest, APolicyThatContradictsItselfHoldsThePoolAsItIs) {
  for (const int how : {0, 1, 2, 3}) {
    Site site;
    site.host(1, site.type("small", 2, 4, 100)).since = Mono(0s);
    site.jobs(9, 1);
    if (how == 0) site.pool().min = 5, site.pool().max = 2;
    if (how == 1) site.pool().price_factor_max = std::nan("");
    if (how == 2) site.pool().price_factor_max = HUGE_VAL;
    if (how == 3) site.pool().idle_timeout = -1s;
    Plan plan = site.plan();
    EXPECT_THAT(plan.creates, IsEmpty()) << how;
    EXPECT_THAT(plan.waiting[0].reason, HasSubstr("held")) << how;
    site.snapshot.classes.clear();
    EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << how;
  }
}

// ---- reasons -----------------------------------------------------------------------------------

TEST(ExplainTest, SaysWhyEachClassWaits) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.jobs(1, 1);
  site.jobs(1, 16);
  Plan plan = site.plan();
  ASSERT_THAT(plan.waiting, SizeIs(2));
  EXPECT_EQ(plan.waiting[0].code, "host_coming");
  EXPECT_EQ(plan.waiting[1].code, "no_offering");
  EXPECT_EQ(plan.waiting[1].reason, "small: 2 of 16 vcpus");
  ASSERT_THAT(plan.rejected, SizeIs(1));
  EXPECT_EQ(plan.rejected[0].reason, "2 of 16 vcpus");

  site.snapshot.offerings[small].shut = "quota of group standard";
  plan = site.plan();
  EXPECT_EQ(plan.waiting[0].code, "gate_shut");
  EXPECT_EQ(plan.waiting[0].reason, "small: quota of group standard");
}

TEST(ExplainTest, ItsMemoryIsBounded) {
  Site site;
  for (int i = 0; i < 200; ++i) site.type("t" + std::to_string(i), 1, 1, 100 + i);
  for (int i = 0; i < 1000; ++i) site.jobs(1, 2, 1, 1000 - i);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.waiting, SizeIs(1000));
  EXPECT_LE(plan.rejected.size(), 1024U);
}

// ---- pick_next, cheapest_fit -------------------------------------------------------------------

TEST(PickNextTest, GoesByPriorityThenArrivalAndPassesWhatDoesNotFit) {
  Queue queue;
  const auto add = [&](std::int32_t vcpus, std::int32_t priority, std::uint64_t arrival) {
    model::JobShape shape;
    shape.needs.vcpus = vcpus;
    shape.priority = priority;
    const ClassId cls = queue.intern(shape);
    queue.push(cls, {.arrival = arrival, .job = {arrival}, .since = {}});
    return cls;
  };
  const ClassId urgent_but_large = add(8, 9, 1);
  const ClassId late = add(2, 1, 5), early = add(1, 1, 3);
  Site site;
  HostView host = site.host(1, site.type("small", 4, 8, 100));
  const auto pick = [&] { return pick_next(queue, host, "small", "", Market::kOnDemand); };

  EXPECT_EQ(pick(), early);
  queue.pop(early);
  EXPECT_EQ(pick(), late);
  host.reserved_for = urgent_but_large;
  EXPECT_EQ(pick(), std::nullopt);
  host.free.vcpus = 8;
  EXPECT_EQ(pick(), urgent_but_large);
  host.takes_work = false;
  EXPECT_EQ(pick(), std::nullopt);
  EXPECT_EQ(pick_next(Queue{}, host, "small", "", Market::kOnDemand), std::nullopt);
}

TEST(CheapestFitTest, NamesTheNearestTypesAndWhatEachLacks) {
  Site site;
  site.type("small", 2, 4, 100);
  site.type("medium", 4, 8, 200);
  site.type("large", 8, 16, 400);
  site.type("huge", 16, 4, 800);
  model::JobShape shape;
  shape.needs = {.vcpus = 12, .gpus = 0, .ram = 24 * kGiB, .scratch = 0};
  std::string nearest;

  EXPECT_FALSE(cheapest_fit(shape, site.snapshot.offerings, site.policy, &nearest));
  EXPECT_EQ(nearest,
            "large: 8 of 12 vcpus, 16 GiB of 24 GiB ram; huge: 4 GiB of 24 GiB ram; "
            "medium: 4 of 12 vcpus, 8 GiB of 24 GiB ram");

  shape.needs.vcpus = 3;
  shape.needs.ram = kGiB;
  EXPECT_EQ(cheapest_fit(shape, site.snapshot.offerings, site.policy, &nearest), 1U);
  site.pool().price_cap_per_hour = {150};
  EXPECT_FALSE(cheapest_fit(shape, site.snapshot.offerings, site.policy, &nearest));
  EXPECT_THAT(nearest, HasSubstr("dearer than pool default allows"));
}

// Bug: while a price stood above the cap, work was refused as what can never run.
TEST(CheapestFitTest, APriceThatRoseMayFallAgain) {
  Site site;
  site.type("spot", 2, 4, 100, Market::kSpot);
  site.pool().price_cap_per_hour = {150};
  site.snapshot.offerings[0].price_per_hour = {900};
  EXPECT_TRUE(cheapest_fit({}, site.snapshot.offerings, site.policy, nullptr));
  site.policy.types[0].price_per_hour = {151};
  EXPECT_FALSE(cheapest_fit({}, site.snapshot.offerings, site.policy, nullptr));
  site.snapshot.offerings[0].price_per_hour = {150};
  EXPECT_TRUE(cheapest_fit({}, site.snapshot.offerings, site.policy, nullptr)) << "as it is now";
}

TEST(CheapestFitTest, TiesEndInTheName) {
  Site site;
  site.type("b", 2, 4, 100);
  site.type("a", 2, 4, 100);
  EXPECT_EQ(cheapest_fit({}, site.snapshot.offerings, site.policy, nullptr), 1U);
}

}  // namespace
}  // namespace hostler::scheduler
