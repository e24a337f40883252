#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

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

TEST(CoverTest, WorkOfAnotherKindIsPlannedLikeAJob) {
  Site site;
  site.type("small", 2, 4, 100);
  const demand::ClassId leases = site.jobs(3, 1);
  site.snapshot.classes[leases].kind = model::WorkKind::kLease;
  site.policy.pools[0].leases.emplace();

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(2));
  EXPECT_EQ(plan.creates[0].for_class, leases);
  EXPECT_THAT(plan.waiting, SizeIs(1));
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
  EXPECT_EQ(plan.creates[0].for_class, demand::ClassId{0});
  EXPECT_EQ(plan.creates[0].reason, "1 waiting job needs it");
}

TEST(GrowTest, PacksSmallWorkTogetherWhereThatIsCheaper) {
  Site site;
  site.type("small", 1, 2, 100);
  const auto large = site.type("large", 8, 16, 400);
  site.jobs(8, 1);

  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(large));
}

TEST(GrowTest, PassesOverShutGates) {
  Site site;
  const auto shut = site.type("small", 1, 2, 100);
  const auto open = site.type("other", 1, 2, 150);
  site.snapshot.offerings[shut].shut = "capacity: no small in z1";
  site.jobs(1, 1);

  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(open));
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
  EXPECT_EQ(plan.waiting[0].code, model::WaitingCode::kNoOffering);
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
    if (how == 0) site.pool(1).sizes.max = 0;
    if (how == 1) site.pool(1).sizes.min = 1001;
    if (how == 2) site.pool(1).price_cap_per_hour = {9};
    site.jobs(1, 1);
    const Plan plan = site.plan();
    ASSERT_THAT(plan.creates, SizeIs(1)) << how;
    EXPECT_EQ(plan.creates[0].offering, small) << how;
  }
}

TEST(GrowTest, NeverCreatesPastACeiling) {
  for (const int level : {0, 1, 2, 3, 4, 5}) {
    Site site;
    site.type("small", 1, 2, 100);
    site.jobs(10, 1);
    gates::Headroom& room = level == 0   ? site.snapshot.site
                            : level == 1 ? site.snapshot.sets[0]
                                         : site.snapshot.pools[0];
    if (level <= 2) room.instances = 3;
    if (level == 3) room.creates = 3;
    if (level == 4) room.price_per_hour = model::Micros{399};
    if (level == 5) site.pool().sizes.max = 3;
    const Plan plan = site.plan();
    EXPECT_THAT(plan.creates, SizeIs(3)) << level;
    ASSERT_THAT(plan.waiting, SizeIs(1));
  }
}

TEST(GrowTest, AtACeilingTheHighestPriorityIsServedFirst) {
  Site site;
  site.type("small", 1, 2, 100);
  site.type("large", 4, 8, 390);
  const demand::ClassId urgent = site.jobs(1, 1, 1, 5);
  const demand::ClassId other = site.jobs(40, 4, 1, 0);
  site.snapshot.pools[0].instances = 1;

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].for_class, urgent);
  ASSERT_THAT(plan.waiting, SizeIs(2));
  EXPECT_EQ(plan.waiting[1].cls, other);
  EXPECT_EQ(plan.waiting[1].code, model::WaitingCode::kAtCeiling);
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
  const demand::ClassId bound = site.jobs(3, 2);
  site.constraints(bound).zone = "z2";

  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(3));
  for (const Create& create : plan.creates) EXPECT_EQ(create.offering, 1U);
}

TEST(GrowTest, HoldsAtMostAsManyAttemptsOnAHostAsThePoolAllows) {
  Site site;
  site.type("large", 8, 32, 100);
  site.pool().attempts_parallel_max = 2;
  site.jobs(8, 1);
  EXPECT_THAT(site.plan().creates, SizeIs(4));
}

TEST(GrowTest, HoldsAtMostAsManyItemsOnAHostAsItMayBeUsed) {
  Site site;
  site.type("large", 8, 32, 100);
  site.pool().uses_max = 1;
  site.jobs(8, 1);
  EXPECT_THAT(site.plan().creates, SizeIs(8));
}

TEST(GrowTest, TakesFreeTypesBySize) {
  Site site;
  site.type("large", 8, 32, 0);
  const auto small = site.type("small", 2, 4, 0);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(small));
}

// ---- minimum and standby -----------------------------------------------------------------------

TEST(StandbyTest, KeepsTheMinimumAndTheStandby) {
  Site site;
  const auto small = site.type("small", 1, 2, 100);
  site.type("large", 4, 8, 400);
  site.pool().sizes.min = 2;
  Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(2));
  EXPECT_EQ(plan.creates[0].offering, small);
  EXPECT_FALSE(plan.creates[0].for_class);
  EXPECT_EQ(plan.creates[0].reason, "minimum of 2 in pool default");

  site.apply(plan);
  EXPECT_THAT(site.plan().creates, IsEmpty());
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.pool().sizes.standby = 3;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(StandbyTest, StandbyIsBesideWhatWorks) {
  Site site;
  site.occupy(site.host(1, site.type("small", 1, 2, 100)), {.vcpus = 1});
  site.pool().sizes.min = 1;
  site.pool().sizes.standby = 1;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(StandbyTest, MinimumNeverPassesACeiling) {
  Site site;
  site.type("small", 1, 2, 100);
  site.pool().sizes.min = 5;
  site.snapshot.site.instances = 2;
  EXPECT_THAT(site.plan().creates, SizeIs(2));
}

}  // namespace
}  // namespace hostler::scheduler
