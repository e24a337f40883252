#include "core/demand/shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hostler::demand {
namespace {

using namespace std::chrono_literals;
using model::Micros;

constexpr Mono kStart{1000h};

TEST(SharesTest, UseIsThePriceOfWhatIsHeldTimesTheTime) {
  Shares shares;
  shares.hold(0, {{600}, 1}, kStart);
  shares.hold(0, {{400}, 2, 4}, kStart);
  EXPECT_EQ(shares.held(0).price_per_hour, Micros{1000});
  EXPECT_EQ(shares.held(0).vcpus, 3);
  EXPECT_EQ(shares.held(0).gpus, 4);
  EXPECT_NEAR(shares.use(0, kStart + 30min), 500, 1);

  shares.release(0, {{400}, 2, 4}, kStart + 1h);
  EXPECT_EQ(shares.held(0).gpus, 0);
  shares.release(0, {{600}, 1}, kStart + 2h);
  EXPECT_NEAR(shares.use(0, kStart + 2h), 1600, 5);
  EXPECT_FALSE(shares.is_anything_held());
  EXPECT_EQ(shares.use(7, kStart), 0) << "never heard of";
}

TEST(SharesTest, HalfOfItIsForgottenInEachHalfLife) {
  Shares shares;
  shares.set_half_life(1h, kStart);
  shares.restore(0, 1000, Duration{}, kStart);
  shares.restore(1, 1000, 3h, kStart);
  EXPECT_NEAR(shares.use(0, kStart), 1000, 1e-6);
  EXPECT_NEAR(shares.use(0, kStart + 1h), 500, 1e-6);
  EXPECT_NEAR(shares.use(1, kStart), 125, 1e-6);
  EXPECT_NEAR(shares.use(0, kStart + 10h), 1000.0 / 1024, 1e-6);
}

TEST(SharesTest, AStartPutsItsPrincipalBackAtOnceAndAnEndForward) {
  Shares shares;
  shares.hold(0, {{600}, 1}, kStart);
  EXPECT_GT(shares.key(0), shares.key(1));
  shares.hold(1, {{600}, 1}, kStart);
  shares.hold(1, {{600}, 1}, kStart);
  EXPECT_GT(shares.key(1), shares.key(0));
  shares.release(1, {{600}, 1}, kStart + 1s);
  shares.release(1, {{600}, 1}, kStart + 1s);
  EXPECT_LT(shares.key(1), shares.key(0));
  EXPECT_GT(shares.key(1), 0) << "a second counts";
}

TEST(SharesTest, TheOrderStaysWhileTimePasses) {
  Shares shares;
  shares.set_half_life(1min, kStart);
  shares.restore(0, 100, Duration{}, kStart);
  shares.restore(1, 101, Duration{}, kStart);
  // 64 half-lives and more: the unit of keys is replaced.
  shares.hold(2, {{1}, 1}, kStart + 100min);
  EXPECT_TRUE(shares.take_rescaled());
  EXPECT_FALSE(shares.take_rescaled());
  EXPECT_LT(shares.key(0), shares.key(1));
  EXPECT_GT(shares.key(0), 0);
  // A year without any event, and a clock that starts late.
  shares.release(2, {{1}, 1}, kStart + 24h * 365);
  EXPECT_TRUE(std::isfinite(shares.key(2)));
  EXPECT_TRUE(std::isfinite(shares.use(2, kStart + 24h * 365 * 10)));
}

TEST(SharesTest, AnotherHalfLifeKeepsWhatIsKnown) {
  Shares shares;
  shares.restore(0, 1000, Duration{}, kStart);
  shares.set_half_life(1h, kStart + 24h * 7);
  EXPECT_TRUE(shares.take_rescaled());
  EXPECT_NEAR(shares.use(0, kStart + 24h * 7), 500, 1e-6);
  EXPECT_NEAR(shares.use(0, kStart + 24h * 7 + 1h), 250, 1e-6);
}

// Bug: keys were no numbers after it, and the loop ended the process.
TEST(SharesTest, AnotherHalfLifeAfterALongRestGivesNumbers) {
  Shares shares;
  shares.set_half_life(1min, kStart);
  shares.restore(0, 100, Duration{}, kStart);
  shares.hold(1, {{600}, 1}, kStart);
  shares.set_half_life(1h, kStart + 24h);
  EXPECT_TRUE(std::isfinite(shares.key(0)));
  EXPECT_TRUE(std::isfinite(shares.key(1)));
}

TEST(SharesTest, NamesThoseWhoseUseHasChangedOnce) {
  Shares shares;
  shares.hold(3, {{100}, 1}, kStart);
  shares.hold(5, {{100}, 1}, kStart);
  EXPECT_TRUE(shares.take_changed().empty()) << "no time has passed";
  shares.accrue(kStart + 10s);
  EXPECT_EQ(shares.take_changed(), (std::vector<PrincipalId>{3, 5}));
  shares.release(3, {{100}, 1}, kStart + 10s);
  shares.accrue(kStart + 20s);
  EXPECT_EQ(shares.take_changed(), std::vector<PrincipalId>{5});
}

// Bug: a job that needs nothing used nothing, though `jobs_max` gave it a whole host.
TEST(SharesTest, AJobThatNeedsNothingHoldsOneOfTheHostsPlacesForJobs) {
  const model::Resources total{.vcpus = 8, .gpus = 0, .ram = 100, .scratch = 0};
  EXPECT_EQ(price_of_part({8'000'000}, {}, total, 1), Micros{8'000'000});
  EXPECT_EQ(price_of_part({8'000'000}, {}, total, 4), Micros{2'000'000});
  EXPECT_EQ(price_of_part({8'000'000}, {}, total, 0), Micros{2'000}) << "one of 4000";
  const model::Resources half{.vcpus = 4, .gpus = 0, .ram = 0, .scratch = 0};
  EXPECT_EQ(price_of_part({8'000'000}, half, total, 4), Micros{4'000'000});
}

TEST(SharesTest, AnExclusiveItemHoldsTheWholeHost) {
  const model::Resources total{.vcpus = 8, .gpus = 0, .ram = 100, .scratch = 0};
  model::WorkShape shape;
  shape.needs.vcpus = 1;
  const auto price = [&] { return price_of_part({8'000'000}, held_by(shape, total), total, 4000); };
  EXPECT_EQ(price(), Micros{1'000'000});
  EXPECT_EQ(held_by(shape, total).vcpus, 1);
  shape.exclusive = true;
  EXPECT_EQ(price(), Micros{8'000'000});
  EXPECT_EQ(held_by(shape, total).vcpus, 8);
}

// What a cloud says a host costs may be anything.
TEST(SharesTest, FreeHostsCountAndNoPriceOverflows) {
  const model::Resources total{.vcpus = 8, .gpus = 0, .ram = 100, .scratch = 0};
  const model::Resources quarter{.vcpus = 2, .gpus = 0, .ram = 1, .scratch = 0};
  EXPECT_EQ(price_of_part({8'000'000}, quarter, total, 4000), Micros{2'000'000});
  EXPECT_EQ(price_of_part({0}, quarter, total, 4000), Micros{2'000});
  EXPECT_EQ(price_of_part({-5}, quarter, total, 4000), Micros{2'000});
  EXPECT_EQ(
      price_of_part({8'000'000}, {.vcpus = 0, .gpus = 0, .ram = 50, .scratch = 0}, total, 4000),
      Micros{4'000'000})
      << "the largest share of any resource";
  EXPECT_EQ(price_of_part({100}, {}, total, 10'000), Micros{1}) << "needs nothing";
  EXPECT_GT(price_of_part({0}, quarter, {}, 4000).value, 0) << "the host is not known";
  const Micros most = price_of_part({std::numeric_limits<std::int64_t>::max()}, total, total, 4000);
  Shares shares;
  for (int i = 0; i < 1000; ++i) shares.hold(0, {most, 8}, kStart);
  for (int year = 1; year < 100; ++year) shares.accrue(kStart + 24h * 365 * year);
  EXPECT_TRUE(std::isfinite(shares.key(0)));
  for (int i = 0; i < 1000; ++i) shares.release(0, {most, 8}, kStart + 24h * 36500);
  EXPECT_EQ(shares.held(0).price_per_hour, Micros{0});
}

}  // namespace
}  // namespace hostler::demand
