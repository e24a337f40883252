#include "core/pricing/bill.h"

#include <gtest/gtest.h>

namespace hostler::pricing {
namespace {

using model::Micros;

constexpr std::int64_t kHour = 3'600'000'000, kGiB = std::int64_t{1} << 30;
Wall hour(std::int64_t n) { return {n * kHour}; }

TEST(BillTest, PricesAStayByItsHistoryElseByItsOwnPrice) {
  const History history = normalise({{hour(0), {100}}, {hour(2), {300}}});
  EXPECT_EQ(cost_of_stay(history, {7}, hour(1), hour(4)), Micros{100 + 2 * 300});
  EXPECT_EQ(cost_of_stay({}, {7}, hour(1), hour(4)), Micros{21});
  EXPECT_EQ(cost_of_stay(history, {7}, hour(4), hour(1)), Micros{0});
}

TEST(BillTest, TimeSwitchedOffIsFree) {
  EXPECT_EQ(cost_of_stay({}, {100}, hour(0), hour(10), 4 * kHour), Micros{600});
  EXPECT_EQ(cost_of_stay({}, {100}, hour(0), hour(10), 40 * kHour), Micros{0});
  EXPECT_EQ(cost_of_stay({}, {100}, hour(0), hour(10), -kHour), Micros{1000});
}

TEST(BillTest, AJobPaysItsLargestShareOfAHost) {
  const model::Resources host{.vcpus = 8, .gpus = 0, .ram = 32 * kGiB, .scratch = 0};
  EXPECT_EQ(part_of({800}, {.vcpus = 2, .gpus = 0, .ram = 4 * kGiB, .scratch = 0}, host),
            Micros{200});
  EXPECT_EQ(part_of({800}, {.vcpus = 1, .gpus = 0, .ram = 16 * kGiB, .scratch = 0}, host),
            Micros{400});
  EXPECT_EQ(part_of({800}, {.vcpus = 99, .gpus = 0, .ram = 0, .scratch = 0}, host), Micros{800})
      << "never more than the whole";
  EXPECT_EQ(part_of({800}, {.vcpus = 1, .gpus = 0, .ram = 0, .scratch = 0}, {}), Micros{800})
      << "a type that has left the menu";
}

TEST(BillTest, NeitherLongTimesNorHighPricesOverflow) {
  const Micros dear{std::int64_t{1} << 60};
  EXPECT_GT(cost_of_stay({}, dear, hour(0), hour(1'000'000)).value, 0);
  EXPECT_GT(part_of({INT64_MAX}, {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0},
                    {.vcpus = 2, .gpus = 0, .ram = 2, .scratch = 0})
                .value,
            INT64_MAX / 2 - 1);
}

}  // namespace
}  // namespace hostler::pricing
