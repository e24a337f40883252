#include "core/base/time.h"

#include <gtest/gtest.h>

#include <limits>

namespace hostler {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr Duration k292Years = std::chrono::hours(24 * 365 * 292);
constexpr Wall kNow{2'000'000'000'000'000};

TEST(TimeTest, WallTimesHaveADifferenceInMicroseconds) {
  EXPECT_EQ(Wall{5} - Wall{2}, 3us);
  EXPECT_EQ(Wall{2} - Wall{5}, -3us);
  EXPECT_EQ(kNow + (Wall{7} - kNow), Wall{7});
}

// Bug: it overflowed, so a file of the year 2446 was older than now.
TEST(TimeTest, WallTimesThatAreFarApartHaveTheLongestDifference) {
  const Wall year_2446{15'032'385'535'000'000};
  for (const Wall later : {year_2446, Wall{kLargest}}) {
    EXPECT_GT(later - kNow, k292Years);
    EXPECT_LT(kNow - later, -k292Years);
  }
  EXPECT_GT(kNow - Wall{kLeast}, k292Years);
  EXPECT_GT(Wall{kLargest} - Wall{kLeast}, k292Years);
  EXPECT_LT(Wall{kLeast} - Wall{kLargest}, -k292Years);
}

TEST(TimeTest, ASumOfAWallTimeSaturates) {
  EXPECT_EQ(Wall{kLargest} + 1h, Wall{kLargest});
  EXPECT_EQ(Wall{kLeast} + -1h, Wall{kLeast});
}

}  // namespace
}  // namespace hostler
