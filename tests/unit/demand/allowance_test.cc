#include "core/demand/allowance.h"

#include <gtest/gtest.h>

namespace hostler::demand {
namespace {

TEST(AllowancesTest, WhoeverHasNoLimitMayHoldEverything) {
  Allowances all;
  EXPECT_FALSE(all.has_limits());
  EXPECT_FALSE(all.set(7, {})) << "nothing has changed";
  EXPECT_TRUE(all.set(2, {.vcpus = 1, .price_per_hour = {}}));
  const model::Amounts part{.price_per_hour = {1}, .vcpus = 2};
  EXPECT_FALSE(all.cover(2, part));
  EXPECT_TRUE(all.cover(1, part));
  EXPECT_TRUE(all.cover(3, part)) << "it was never heard of";
}

TEST(AllowancesTest, EachLimitCountsByItself) {
  Allowance left{.vcpus = 8, .gpus = 3, .price_per_hour = model::Micros{100}};
  EXPECT_EQ(left.count({.price_per_hour = {10}, .vcpus = 1, .gpus = 1}, 9), 3U);
  EXPECT_EQ(left.count({.price_per_hour = {10}, .vcpus = 4, .gpus = 1}, 9), 2U);
  EXPECT_EQ(left.count({.price_per_hour = {10}, .vcpus = 1}, 9), 8U) << "it needs no gpus";
  left.take({.price_per_hour = {10}, .vcpus = 1, .gpus = 2}, 2);
  EXPECT_EQ(left.gpus, -1) << "as after a limit was lowered";
  EXPECT_FALSE(left.covers({.gpus = 1}));
  EXPECT_TRUE(left.covers({.price_per_hour = {10}, .vcpus = 1}));
}

TEST(AllowancesTest, ALimitThatIsLiftedCountsNoMore) {
  Allowances all;
  EXPECT_TRUE(all.set(0, {.vcpus = 1, .price_per_hour = {}}));
  EXPECT_TRUE(all.set(0, {.vcpus = {}, .price_per_hour = model::Micros{5}}));
  EXPECT_TRUE(all.set(0, {.gpus = 0}));
  EXPECT_TRUE(all.has_limits());
  EXPECT_TRUE(all.set(0, {}));
  EXPECT_FALSE(all.has_limits());
}

}  // namespace
}  // namespace hostler::demand
