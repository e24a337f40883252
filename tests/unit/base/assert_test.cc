#include "core/base/assert.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(AssertDeathTest, ABrokenInvariantEndsTheProcessAndIsNamed) {
  const int rooms = 2;
  EXPECT_DEATH(HOSTLER_ASSERT(rooms == 3, "a house has three rooms"),
               "broken invariant: a house has three rooms \\(rooms == 3; assert_test.cc:[0-9]+\\)");
}

TEST(AssertTest, TheConditionIsEvaluatedOnce) {
  int evaluated = 0;
  HOSTLER_ASSERT(++evaluated == 1, "the condition is evaluated once");
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace hostler
