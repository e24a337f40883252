#include "core/model/gpus.h"

#include <gtest/gtest.h>

namespace hostler::model {
namespace {

constexpr std::int64_t gib(std::int64_t n) { return n << 30; }

TEST(GpusTest, AShorterKindIsMetByALongerOneAtAHyphen) {
  EXPECT_TRUE(fits_kind("", "a100"));
  EXPECT_TRUE(fits_kind("a100", "a100"));
  EXPECT_TRUE(fits_kind("a100", "a100-sxm4-40gb"));
  EXPECT_FALSE(fits_kind("a10", "a100"));
  EXPECT_FALSE(fits_kind("a100-sxm4", "a100"));
  EXPECT_FALSE(fits_kind("a100", ""));
}

TEST(GpusTest, CardsAreTakenFromTheGroupWithTheFewestThatSuffices) {
  const GpuGroups free{{"a100", gib(40), 4}, {"a100", gib(80), 2}, {"t4", gib(16), 1}};
  EXPECT_EQ(pick_group(free, {}, 1), 2U);
  EXPECT_EQ(pick_group(free, {}, 2), 1U);
  EXPECT_EQ(pick_group(free, {}, 3), 0U);
  EXPECT_EQ(pick_group(free, {}, 5), std::nullopt);
  EXPECT_EQ(pick_group(free, {.kind = "a100", .memory = 0}, 1), 1U);
  EXPECT_EQ(pick_group(free, {.kind = "", .memory = gib(41)}, 1), 1U);
  EXPECT_EQ(pick_group(free, {.kind = "t4", .memory = 0}, 2), std::nullopt);
  EXPECT_EQ(pick_group(free, {.kind = "h100", .memory = 0}, 1), std::nullopt);
}

TEST(GpusTest, OfEqualGroupsTheOneWithTheLeastMemoryIsTakenInAnyOrder) {
  const GpuGroup small{"a100", gib(40), 2}, large{"a100", gib(80), 2};
  EXPECT_EQ(pick_group({small, large}, {}, 1), 0U);
  EXPECT_EQ(pick_group({large, small}, {}, 1), 1U);
}

TEST(GpusTest, CountsAndTakesItemsGroupByGroup) {
  GpuGroups free{{"a100", 0, 5}, {"t4", 0, 3}};
  EXPECT_EQ(fit_count(free, {}, 2), 3U) << "2 and 1, not (5 + 3) / 2";
  EXPECT_EQ(fit_count(free, {.kind = "t4", .memory = 0}, 2), 1U);
  EXPECT_EQ(fit_count(free, {}, 0), std::uint64_t{INT32_MAX});
  take_cards(free, {}, 2, 3);
  EXPECT_EQ(free, (GpuGroups{{"a100", 0, 1}, {"t4", 0, 1}}));
  take_cards(free, {}, 0, 7);
  EXPECT_EQ(fit_count(free, {}, 2), 0U);
}

TEST(GpusTest, WhereNothingIsSaidOnlyAnyCardsAreThere) {
  EXPECT_TRUE(has_cards({}, {}, 2));
  EXPECT_FALSE(has_cards({}, {.kind = "a100", .memory = 0}, 1));
  EXPECT_FALSE(has_cards({}, {.kind = "", .memory = 1}, 1));
  EXPECT_TRUE(has_cards({{"t4", 0, 1}}, {}, 0)) << "it needs none";
  EXPECT_FALSE(has_cards({{"t4", 0, 1}}, {.kind = "", .memory = 1}, 1)) << "its memory is not said";
}

}  // namespace
}  // namespace hostler::model
