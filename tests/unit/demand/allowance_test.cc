#include "core/demand/allowance.h"

#include <gtest/gtest.h>

namespace hostler::demand {
namespace {

TEST(AllowancesTest, WhoeverHasNoLimitMayHoldEverything) {
  Allowances all;
  EXPECT_FALSE(all.has_limits());
  EXPECT_FALSE(all.set(7, {})) << "nothing has changed";
  EXPECT_TRUE(all.set(2, {.vcpus = 1, .price_per_hour = {}}));
  const model::Resources needs{.vcpus = 2, .gpus = 0, .ram = 0, .scratch = 0};
  EXPECT_FALSE(all.cover(2, needs, {1}));
  EXPECT_TRUE(all.cover(1, needs, {1}));
  EXPECT_TRUE(all.cover(3, needs, {1})) << "it was never heard of";
}

TEST(AllowancesTest, ALimitThatIsLiftedCountsNoMore) {
  Allowances all;
  EXPECT_TRUE(all.set(0, {.vcpus = 1, .price_per_hour = {}}));
  EXPECT_TRUE(all.set(0, {.vcpus = {}, .price_per_hour = model::Micros{5}}));
  EXPECT_TRUE(all.has_limits());
  EXPECT_TRUE(all.set(0, {}));
  EXPECT_FALSE(all.has_limits());
}

}  // namespace
}  // namespace hostler::demand
