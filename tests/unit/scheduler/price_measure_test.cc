#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

/// What price_factor_max multiplies.
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Own machines in a set that has room for none, and a cloud at 100.
struct OwnAndCloud : Site {
  const std::uint32_t own, cloud;
  explicit OwnAndCloud(std::int64_t own_price)
      : own(type("own", 2, 4, own_price)), cloud(type("cloud", 2, 4, 100)) {
    policy.sets.push_back(policy.sets[0]);
    policy.sets[1].name = "cellar";
    snapshot.sets.resize(2);
    snapshot.offerings[own].set = 1;
    snapshot.sets[1].instances = 0;
    jobs(1, 2);
  }
  Offering& offering(std::uint32_t index) { return snapshot.offerings[index]; }
};

// Bug: jobs waited for hours for two own machines, and the cloud was never used.
TEST(PriceMeasureTest, ATypeThatOwnHostsHaveFilledIsNone) {
  for (const std::int64_t price : {0, 1}) {
    OwnAndCloud site(price);
    EXPECT_THAT(bought(site.plan()), ElementsAre(site.cloud)) << "a ceiling, at " << price;
    site.snapshot.sets[1].instances.reset();
    site.offering(site.own).shut = "the quota is used up";
    site.offering(site.own).at_quota = true;
    EXPECT_THAT(bought(site.plan()), ElementsAre(site.cloud)) << "a quota, at " << price;
  }
}

TEST(PriceMeasureTest, TheNextTypeIsOne) {
  OwnAndCloud site(0);
  site.offering(site.cloud).shut = "no capacity";
  const auto dear = site.type("dear", 2, 4, 201);
  EXPECT_THAT(bought(site.plan()), IsEmpty());
  site.offering(dear).price_per_hour = {200};
  EXPECT_THAT(bought(site.plan()), ElementsAre(dear));
}

TEST(PriceMeasureTest, ATypeWithoutCapacityOrWaitingForARateIsOneUnlessItCostsNothing) {
  for (const std::int64_t price : {0, 1}) {
    OwnAndCloud site(price);
    site.snapshot.sets[1].instances.reset();
    site.snapshot.sets[1].creates = 0;
    EXPECT_EQ(bought(site.plan()).empty(), price > 0);
    site.snapshot.sets[1].creates.reset();
    site.offering(site.own).shut = "no capacity";
    EXPECT_EQ(bought(site.plan()).empty(), price > 0);
  }
}

TEST(PriceMeasureTest, WithoutAnyPriceNothingIsTooDear) {
  Site site;
  const auto one = site.type("one", 2, 4, 0);
  site.jobs(1, 2);
  EXPECT_THAT(bought(site.plan()), ElementsAre(one));
}

TEST(PriceMeasureTest, ASwitchedOffHostIsWokenWhereTheCheaperTypeIsFull) {
  OwnAndCloud site(1);
  HostView& off = site.host(1, site.cloud, HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  EXPECT_EQ(site.plan().wakes.size(), 1U);
  site.snapshot.sets[1].instances = 1;
  EXPECT_THAT(site.plan().wakes, IsEmpty());
}

}  // namespace
}  // namespace hostler::scheduler
