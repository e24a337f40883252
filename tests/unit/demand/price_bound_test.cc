#include "core/demand/price_bound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace hostler::demand {
namespace {

using Parts = std::vector<PriceBound::Share>;

TEST(PriceBoundTest, EachItemIsPaidByItsOwnPrincipal) {
  const PriceBound bound({{{250}, 9}, {{190}, 9}, {{60}, 1}});
  EXPECT_EQ(bound.count({251}, 99), 0U);
  EXPECT_EQ(bound.count({200}, 99), 1U);
  EXPECT_EQ(bound.count({100}, 99), 3U);
  EXPECT_EQ(bound.count({100}, 2), 2U);
  EXPECT_EQ(bound.count({60}, 99), 8U);
  EXPECT_EQ(bound.count({1}, 99), 19U) << "there are no more items";
}

TEST(PriceBoundTest, ThePrincipalsThatHaveLeastPayFirst) {
  PriceBound bound({{{300}, 3}, {{100}, 1}});
  bound.take({100}, 1);
  EXPECT_EQ(bound.count({300}, 9), 1U);
  bound.take({100}, 1);
  EXPECT_EQ(bound.count({300}, 9), 0U);
  EXPECT_EQ(bound.count({100}, 9), 2U);
}

TEST(PriceBoundTest, TheVcpusOfWholeHostsArePaidLikewise) {
  PriceBound bound({{{100}, 9, 5}, {{100}, 9, 10}});
  EXPECT_EQ(bound.count({10}, 99), 18U) << "no whole hosts";
  EXPECT_EQ(bound.count({10}, 99, 4), 3U);
  EXPECT_EQ(bound.count({10}, 99, 8), 1U);
  EXPECT_EQ(bound.count({10}, 99, 11), 0U);
  EXPECT_EQ(bound.count({60}, 99, 4), 2U) << "the price counts besides";
  bound.take({10}, 1, 8);
  EXPECT_EQ(bound.count({10}, 99, 4), 1U);
  EXPECT_EQ(bound.count({10}, 99, 2), 3U);
  EXPECT_EQ(PriceBound(Parts(1000, {{100}, 9, 5})).count({10}, 5000, 4), 1000U);
}

TEST(PriceBoundTest, AnyPriceOfAnyNumberOfPrincipalsIsNoLimit) {
  const PriceBound bound(Parts(10'000, {PriceBound::kAnyPrice, 1, 5}));
  EXPECT_EQ(bound.count({1'000'000}, 20'000, 5), 10'000U);
}

TEST(PriceBoundTest, WhatIsLeftOfManyEqualSharesPaysForNothing) {
  PriceBound bound(Parts(1000, {{150}, 1}));
  EXPECT_EQ(bound.count({100}, 5000), 1000U);
  for (int i = 0; i < 1000; ++i) bound.take({100}, 1);
  EXPECT_EQ(bound.count({100}, 5000), 0U);
  EXPECT_EQ(PriceBound(Parts(1000, {{150}, 3})).count({100}, 5000), 1000U);
}

TEST(PriceBoundTest, CountsAsEachPrincipalAloneWould) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const bool is_exact = seed % 2 == 0;
    Parts shares(1 + random.below(is_exact ? PriceBound::kBucketsMax : 400));
    for (auto& share : shares)
      share = {{static_cast<std::int64_t>(random.below(5'000))}, 1 + random.below(20)};
    const PriceBound bound(shares);
    std::uint64_t before = UINT64_MAX;
    for (std::int64_t each = 1; each <= 5'000; each += 61) {
      std::uint64_t exact = 0;
      for (const auto& share : shares)
        exact += std::min(share.items, static_cast<std::uint64_t>(share.left.value / each));
      const std::uint64_t counted = bound.count({each}, UINT64_MAX);
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
