#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(SpotTest, WaitsForSpotBeforeItFallsBackToOnDemand) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto steady = site.type("steady", 2, 4, 300);
  site.snapshot.offerings[spot].shut = "capacity";
  site.jobs(1, 1, 1, 0, 10min - 1ns);
  Plan plan = site.plan();
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_EQ(plan.waiting[0].code, model::WaitingCode::kGateShut);

  site.snapshot.classes[0].oldest = site.snapshot.now - 10min;
  plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(steady));
}

TEST(SpotTest, ReplacesASpotRequestThatWasNotFulfilledInTime) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto steady = site.type("steady", 2, 4, 300);
  site.request_in_vain(1, spot);
  const ClassId cls = site.jobs(1, 1, 1, 0, 10min);

  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(steady));
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, ShutdownCode::kUnwantedSpot)));

  site.constraints(cls).market = Market::kSpot;
  EXPECT_THAT(site.plan().creates, IsEmpty()) << "it wants spot and nothing else: it waits on";
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: the next zone was asked for spot, then the first again, for ever.
TEST(SpotTest, ASpotRequestInVainIsNotTriedInAnotherZone) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot, "z1");
  site.snapshot.offerings.push_back(site.snapshot.offerings[spot]);
  site.snapshot.offerings.back().zone = "z2";
  const auto steady = site.type("steady", 2, 4, 300);
  site.request_in_vain(1, spot);
  site.jobs(1, 1, 1, 0, 10min);

  const Plan plan = site.plan();

  EXPECT_THAT(bought(plan), ElementsAre(steady));
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, ShutdownCode::kUnwantedSpot)));
}

// Bug: small work went to on_demand as long as a large request that has to be spot was pending.
TEST(SpotTest, ASpotRequestThatStaysTellsNothingOfOtherWork) {
  for (const bool held : {false, true}) {
    Site site;
    const auto small = site.type("spot", 2, 4, 50, Market::kSpot);
    const auto large = site.type("large spot", 8, 16, 200, Market::kSpot);
    site.type("steady", 2, 4, 300);
    site.request_in_vain(1, large).kept = held;
    if (!held) site.constraints(site.jobs(1, 8, 1, 0, 10min)).market = Market::kSpot;
    site.jobs(3, 2, 1, 0, 10min);

    const Plan plan = site.plan();

    for (const auto& create : plan.creates) EXPECT_EQ(create.offering, small) << held;
    EXPECT_THAT(ended(plan), IsEmpty()) << held;
  }
}

TEST(SpotTest, ASpotRequestInVainTellsNothingOfWorkThatItCannotHold) {
  Site site;
  const auto spot = site.type("spot", 2, 4, 50, Market::kSpot);
  const auto large = site.type("large spot", 8, 16, 200, Market::kSpot);
  site.type("steady", 8, 16, 300);
  site.request_in_vain(1, spot);
  site.jobs(1, 8, 1, 0, 10min);

  const Plan plan = site.plan();

  EXPECT_THAT(bought(plan), ElementsAre(large));
}

}  // namespace
}  // namespace hostler::scheduler
