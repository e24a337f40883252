#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/limits_fixture.h"

/// Limits of price: what a user may pay for decides which hosts are bought for their work.
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using PriceLimitsTest = LimitsTest;

TEST_F(PriceLimitsTest, APlanBuysOnlyWhatALimitOfPricePaysFor) {
  site.type("small", 1, 4, 100'000);
  const demand::ClassId a = cls(1);
  push(a, kAnn, 100);
  limit_price(kAnn, 350'000);
  EXPECT_THAT(plan().creates, SizeIs(3));
}

TEST_F(PriceLimitsTest, HostsThatAreTooDearForALimitAreLeftToOthers) {
  const auto dear = site.type("dear", 1, 4, 300'000);
  const auto cheap = site.type("cheap", 1, 4, 100'000);
  site.host(1, dear);
  const demand::ClassId a = cls(1);
  push(a, kAnn, 5);
  limit_price(kAnn, 200'000);
  const Plan alone = plan();
  EXPECT_THAT(alone.places, IsEmpty());
  EXPECT_THAT(bought(alone), ElementsAre(cheap, cheap));
  push(a, kBob);
  const Plan both = plan();
  EXPECT_EQ(placed_on(both, 1), 1U);
  EXPECT_THAT(bought(both), ElementsAre(cheap, cheap));
}

TEST_F(PriceLimitsTest, WhereTheCheapestCannotBeHadALimitPaysForFewerOfTheNext) {
  const auto dear = site.type("dear", 1, 4, 200'000);
  const auto cheap = site.type("cheap", 1, 4, 100'000);
  site.snapshot.offerings[cheap].shut = "no capacity";
  const demand::ClassId a = cls(1);
  push(a, kAnn, 100);
  limit_price(kAnn, 450'000);
  EXPECT_THAT(bought(plan()), ElementsAre(dear, dear));
  limit_price(kAnn, 150'000);
  const Plan none = plan();
  EXPECT_THAT(none.creates, IsEmpty());
  ASSERT_THAT(none.waiting, SizeIs(1));
  EXPECT_TRUE(none.waiting[0].is_priced);
}

TEST_F(PriceLimitsTest, HostsAreBoughtOnlyForItemsWhoseOwnUserPaysForOne) {
  const auto dear = site.type("dear", 1, 4, 300'000);
  const auto cheap = site.type("cheap", 1, 4, 100'000);
  site.snapshot.offerings[cheap].shut = "no capacity";
  site.pool().price_factor_max = 4;
  const demand::ClassId a = cls(1);
  for (demand::PrincipalId user = 0; user < 40; ++user) {
    push(a, user, 3);
    limit_price(user, 200'000 + user);
  }
  EXPECT_THAT(plan().creates, IsEmpty());
  limit_price(7, 310'000);
  limit_price(8, 310'000);
  EXPECT_THAT(bought(plan()), ElementsAre(dear, dear));
}

TEST_F(PriceLimitsTest, AHostThatTheLimitFillsTooLittleOfIsNoReasonToBuyNone) {
  const auto small = site.type("small", 1, 4, 100'000);
  site.type("large", 8, 32, 640'000);  // 80,000 for each vcpu, and too dear for fewer than 6 jobs.
  site.pool().price_factor_max = 1.2;
  const demand::ClassId a = cls(1);
  push(a, kAnn, 10);
  limit_price(kAnn, 250'000);
  EXPECT_THAT(bought(plan()), ElementsAre(small, small));
}

TEST_F(PriceLimitsTest, AClassThatMayOnlyShareAHostKeepsNoOtherFromAHostOfItsOwn) {
  site.type("small", 13, 31, 611'000);
  const auto large = site.type("large", 16, 53, 640'000);
  site.pool().price_factor_max = 1;
  const auto one_job = [&](std::int32_t vcpus, std::int64_t gib, std::int64_t limit) {
    const demand::ClassId of = site.jobs(1, vcpus, gib);
    site.snapshot.classes[of].price =
        demand::PriceBound({{.left = demand::PriceBound::only_price({limit}), .items = 1}});
  };
  // Fills more of a large host than the other job, but does not pay for one alone.
  one_job(13, 23, 550'000);
  one_job(14, 15, 600'000);
  EXPECT_THAT(bought(site.plan()), ElementsAre(large));
}

TEST_F(PriceLimitsTest, APlanSaysThatTheHostsThatCanBeHadAreTooDearForTheLimit) {
  site.type("dear", 1, 4, 200'000);
  site.policy.pools.push_back(site.pool());
  site.snapshot.pools.resize(2);
  site.pool(1).price_cap_per_hour = {50'000};
  site.type("cheap", 1, 4, 100'000, model::Market::kOnDemand, "", 1);
  push(cls(1), kAnn);
  limit_price(kAnn, 150'000);
  const Plan made = plan();
  ASSERT_THAT(made.waiting, SizeIs(1));
  EXPECT_EQ(made.waiting[0].code, model::WaitingCode::kQuota);
  EXPECT_THAT(made.waiting[0].reason, testing::HasSubstr("running_price_per_hour_max"));
}

TEST_F(PriceLimitsTest, AClassThatNoHostCanBeHadForLeavesTheAllowanceToTheOthers) {
  const demand::ClassId first = cls(2), second = cls(1);
  push(first, kAnn, 10);
  push(second, kAnn, 10);
  limit_vcpus(kAnn, 4);
  EXPECT_EQ(seen(first), 2U);
  EXPECT_EQ(seen(second), 0U);
  stuck = {first};
  EXPECT_EQ(seen(first), 1U) << "one shows when it can be had again";
  EXPECT_EQ(seen(second), 4U);
}

TEST_F(PriceLimitsTest, AClassWhoseHostsAreTooDearForTheLimitLeavesItToTheOthers) {
  const auto dear = site.type("dear", 4, 4, 1'200'000);
  const auto cheap = site.type("cheap", 4, 4, 400'000);
  const auto small = site.type("small", 1, 4, 100'000);
  site.pool().price_factor_max = 4;
  site.snapshot.offerings[cheap].shut = "no capacity";
  const demand::ClassId first = cls(4), second = cls(1);
  push(first, kAnn);
  push(second, kAnn, 10);
  limit_price(kAnn, 500'000);
  const auto waits = [&](const Plan& made) {
    for (const Waiting& w : made.waiting)
      if (w.cls == first) return w;
    return Waiting{};
  };
  Plan made = plan();
  EXPECT_THAT(bought(made), ElementsAre(small));
  ASSERT_EQ(waits(made).part_from, model::Micros{1'200'000});
  from[first] = *waits(made).part_from;
  made = plan();
  EXPECT_EQ(bought(made).size(), 5U) << "all of the limit";
  EXPECT_EQ(waits(made).cls, first) << "one item shows when a cheaper host can be had";
  // It keeps its place before the others as soon as the limit pays for it.
  limit_price(kAnn, 1'350'000);
  EXPECT_THAT(bought(plan()), testing::UnorderedElementsAre(dear, small));
  limit_price(kAnn, 500'000);
  site.snapshot.offerings[cheap].shut = "";
  EXPECT_THAT(bought(plan()), testing::Contains(cheap));
}

}  // namespace
}  // namespace hostler::scheduler
