#include "core/demand/price_bound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace hostler::demand {
namespace {

using Parts = std::vector<PriceBound::Share>;

PriceBound::Share share(model::Micros price, std::uint64_t items,
                        model::Vcpus vcpus = PriceBound::kAny.vcpus,
                        std::int64_t gpus = PriceBound::kAny.gpus) {
  return {.left = {price, vcpus, gpus}, .items = items};
}

TEST(PriceBoundTest, EachItemIsPaidByItsOwnPrincipal) {
  const PriceBound bound({share({250}, 9), share({190}, 9), share({60}, 1)});
  EXPECT_EQ(bound.count({{251}}, 99), 0U);
  EXPECT_EQ(bound.count({{200}}, 99), 1U);
  EXPECT_EQ(bound.count({{100}}, 99), 3U);
  EXPECT_EQ(bound.count({{100}}, 2), 2U);
  EXPECT_EQ(bound.count({{60}}, 99), 8U);
  EXPECT_EQ(bound.count({{1}}, 99), 19U) << "there are no more items";
}

TEST(PriceBoundTest, ThePrincipalsThatHaveLeastPayFirst) {
  PriceBound bound({share({300}, 3), share({100}, 1)});
  bound.take({{100}}, 1);
  EXPECT_EQ(bound.count({{300}}, 9), 1U);
  bound.take({{100}}, 1);
  EXPECT_EQ(bound.count({{300}}, 9), 0U);
  EXPECT_EQ(bound.count({{100}}, 9), 2U);
}

TEST(PriceBoundTest, TheVcpusOfWholeHostsArePaidLikewise) {
  PriceBound bound({share({100}, 9, 5), share({100}, 9, 10)});
  EXPECT_EQ(bound.count({{10}}, 99), 18U) << "no whole hosts";
  EXPECT_EQ(bound.count({{10}, 4}, 99), 3U);
  EXPECT_EQ(bound.count({{10}, 8}, 99), 1U);
  EXPECT_EQ(bound.count({{10}, 11}, 99), 0U);
  EXPECT_EQ(bound.count({{60}, 4}, 99), 2U) << "the price counts besides";
  bound.take({{10}, 8}, 1);
  EXPECT_EQ(bound.count({{10}, 4}, 99), 1U);
  EXPECT_EQ(bound.count({{10}, 2}, 99), 3U);
  EXPECT_EQ(PriceBound(Parts(1000, share({100}, 9, 5))).count({{10}, 4}, 5000), 1000U);
}

TEST(PriceBoundTest, TheGpusOfWholeHostsArePaidLikewise) {
  PriceBound bound({share({100}, 9, 8, 2), share({100}, 9, 80, 4)});
  EXPECT_EQ(bound.count({{10}, 4}, 99), 11U) << "hosts without cards";
  EXPECT_EQ(bound.count({{10}, 4, 2}, 99), 3U);
  EXPECT_EQ(bound.count({{10}, 4, 5}, 99), 0U);
  bound.take({{10}, 4, 2}, 1);
  EXPECT_EQ(bound.count({{10}, 4, 2}, 99), 2U);
}

TEST(PriceBoundTest, AnyPriceOfAnyNumberOfPrincipalsIsNoLimit) {
  const PriceBound bound(Parts(10'000, share(PriceBound::kAny.price_per_hour, 1, 5)));
  EXPECT_EQ(bound.count({{1'000'000}, 5}, 20'000), 10'000U);
}

TEST(PriceBoundTest, WhatIsLeftOfManyEqualSharesPaysForNothing) {
  PriceBound bound(Parts(1000, share({150}, 1)));
  EXPECT_EQ(bound.count({{100}}, 5000), 1000U);
  for (int i = 0; i < 1000; ++i) bound.take({{100}}, 1);
  EXPECT_EQ(bound.count({{100}}, 5000), 0U);
  EXPECT_EQ(PriceBound(Parts(1000, share({150}, 3))).count({{100}}, 5000), 1000U);
}

TEST(PriceBoundTest, CountsAsEachPrincipalAloneWould) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const bool is_exact = seed % 2 == 0;
    Parts shares(1 + random.below(is_exact ? PriceBound::kBucketsMax : 400));
    for (auto& one : shares)
      one = share({static_cast<std::int64_t>(random.below(5'000))}, 1 + random.below(20));
    const PriceBound bound(shares);
    std::uint64_t before = UINT64_MAX;
    for (std::int64_t each = 1; each <= 5'000; each += 61) {
      std::uint64_t exact = 0;
      for (const auto& one : shares)
        exact +=
            std::min(one.items, static_cast<std::uint64_t>(one.left.price_per_hour.value / each));
      const std::uint64_t counted = bound.count({{each}}, UINT64_MAX);
      if (is_exact) {
        ASSERT_EQ(counted, exact) << seed << " " << each;
      }
      ASSERT_EQ(counted > 0, exact > 0) << seed << " " << each;
      ASSERT_LE(counted, before) << seed << " " << each;
      before = counted;
    }
  }
}

}  // namespace
}  // namespace hostler::demand
