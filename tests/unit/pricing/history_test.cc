#include "core/pricing/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/unit/pricing/hours.h"

namespace hostler::pricing {
namespace {

using model::Micros;
using model::PricePoint;
using testing::ElementsAre;

PricePoint at(std::int64_t hour, std::int64_t price) { return {Wall{hour * kHour}, {price}}; }

TEST(PriceHistoryTest, PutsTheNewestFirst) {
  EXPECT_THAT(normalise({at(2, 20), at(5, 50), at(1, 10)}),
              ElementsAre(at(5, 50), at(2, 20), at(1, 10)));
}

TEST(PriceHistoryTest, MergesEqualNeighboursAndKeepsTheOldestStart) {
  EXPECT_THAT(normalise({at(3, 10), at(1, 10), at(2, 10), at(4, 20), at(5, 10)}),
              ElementsAre(at(5, 10), at(4, 20), at(1, 10)));
}

TEST(PriceHistoryTest, OfEqualStartTimesKeepsTheLastSaid) {
  EXPECT_THAT(normalise({at(2, 10), at(2, 30), at(1, 5), at(2, 20)}),
              ElementsAre(at(2, 20), at(1, 5)));
  EXPECT_THAT(normalise({at(1, 5), at(2, 9), at(2, 5)}), ElementsAre(at(1, 5)))
      << "what was said last makes it equal to its neighbour";
  EXPECT_THAT(normalise({at(1, 5), at(2, 5), at(2, 9)}), ElementsAre(at(2, 9), at(1, 5)));
}

TEST(PriceHistoryTest, NormalisingTwiceChangesNothing) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<PricePoint> said;
    for (std::uint64_t i = random.below(40); i > 0; --i)
      said.push_back(at(static_cast<std::int64_t>(random.below(20)),
                        static_cast<std::int64_t>(random.below(4))));
    const History once = normalise(said);
    EXPECT_EQ(normalise(once), once);
    for (std::size_t i = 1; i < once.size(); ++i) {
      EXPECT_GT(once[i - 1].start, once[i].start);
      EXPECT_NE(once[i - 1].per_hour, once[i].per_hour);
    }
  }
}

TEST(PriceHistoryTest, ChargesEachStretchAtItsPrice) {
  const History history = normalise({at(0, 100), at(2, 300), at(4, 50)});
  EXPECT_EQ(cost(history, hour(1), hour(5)), Micros{100 + 600 + 50});
  EXPECT_EQ(cost(history, hour(2), hour(4)), Micros{600});
  EXPECT_EQ(cost(history, hour(9), hour(10)), Micros{50});
  EXPECT_EQ(cost(history, hour(-3), hour(1)), Micros{400}) << "before the first: its price";
  EXPECT_EQ(cost(history, hour(-5), hour(-3)), Micros{200});
  EXPECT_EQ(cost(history, hour(3), hour(3)), Micros{0});
  EXPECT_EQ(cost(history, hour(3), hour(2)), Micros{0});
  EXPECT_EQ(cost(History{}, hour(0), hour(1)), std::nullopt);
}

TEST(PriceHistoryTest, RoundsOnceAtTheEnd) {
  std::vector<PricePoint> said;
  for (std::int64_t i = 0; i < 1000; ++i) said.push_back({Wall{i * 1'000'000}, {999 + i % 2}});
  // 1,000 s at 999.5 millionths an hour: 277.6; rounding each second would give 0.
  EXPECT_EQ(cost(normalise(said), Wall{0}, Wall{1'000'000'000}), Micros{277});
}

TEST(PriceHistoryTest, SaturatesInsteadOfOverflowing) {
  constexpr std::int64_t kMost = INT64_MAX;
  EXPECT_EQ(cost(normalise({at(0, kMost)}), Wall{INT64_MIN}, Wall{kMost}), Micros{kMost});
  EXPECT_EQ(cost(Micros{kMost}, hour(0), hour(2)), Micros{kMost});
}

TEST(PriceHistoryTest, CostsOfAdjacentStretchesAddUp) {
  Random random(7);
  std::vector<PricePoint> said;
  for (int i = 0; i < 50; ++i)
    said.push_back(at(static_cast<std::int64_t>(random.below(100)),
                      static_cast<std::int64_t>(random.below(1000)) * 3600));
  const History history = normalise(said);
  for (std::int64_t split = 1; split < 120; ++split)
    EXPECT_EQ(*cost(history, hour(0), hour(split)) + *cost(history, hour(split), hour(120)),
              *cost(history, hour(0), hour(120)));
}

}  // namespace
}  // namespace hostler::pricing
