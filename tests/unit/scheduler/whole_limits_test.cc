#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/unit/scheduler/limits_fixture.h"

/// Exclusive work counts with all vcpus and the whole price of its host for the limits of its user.
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct WholeLimitsTest : LimitsTest {
  void SetUp() override {
    quad = site.type("quad", 4, 16, 100'000);
    octa = site.type("octa", 8, 32, 200'000);
    lease = lease_cls(1);
    push(lease, kAnn, 5);
  }
  std::uint32_t quad = 0, octa = 0;
  demand::ClassId lease = 0;
};

TEST_F(WholeLimitsTest, AHostCountsWithAllItsVcpus) {
  limit_vcpus(kAnn, 10);
  EXPECT_EQ(seen(lease), 2U) << "the smallest host has 4";
  EXPECT_THAT(bought(plan()), ElementsAre(quad, quad));
  limit_vcpus(kAnn, 3);
  EXPECT_THAT(plan().creates, IsEmpty()) << "although the lease needs 1";
}

TEST_F(WholeLimitsTest, AHostCountsWithItsWholePrice) {
  limit_price(kAnn, 350'000);
  EXPECT_THAT(bought(plan()), ElementsAre(quad, quad, quad));
  limit_price(kAnn, 99'999);
  EXPECT_THAT(plan().creates, IsEmpty());
}

TEST_F(WholeLimitsTest, NoHostIsBoughtThatItsUserMayNotHold) {
  site.snapshot.offerings[quad].shut = "no capacity";
  limit_vcpus(kAnn, 10);
  EXPECT_THAT(bought(plan()), ElementsAre(octa)) << "for two of 8 vcpus the limit is too low";
  limit_vcpus(kAnn, 7);
  const Plan none = plan();
  EXPECT_THAT(none.creates, IsEmpty());
  ASSERT_THAT(none.rejected, SizeIs(2));
  EXPECT_EQ(none.rejected[1].reason,
            "it has 8 vcpus, more than running_vcpus_max of its user leaves");
}

TEST_F(WholeLimitsTest, AHostCountsWithAllItsGpus) {
  for (const std::uint32_t o : {quad, octa}) site.snapshot.offerings[o].resources.gpus = 2;
  limit_gpus(kAnn, 5);
  EXPECT_EQ(seen(lease), 2U) << "although the lease needs none";
  EXPECT_THAT(bought(plan()), ElementsAre(quad, quad));
  site.snapshot.offerings[octa].resources.gpus = 4;
  site.snapshot.offerings[quad].shut = "no capacity";
  limit_gpus(kAnn, 7);
  EXPECT_THAT(bought(plan()), ElementsAre(octa)) << "for two of 4 gpus the limit is too low";
  limit_gpus(kAnn, 3);
  const Plan none = plan();
  EXPECT_THAT(none.creates, IsEmpty());
  ASSERT_THAT(none.rejected, SizeIs(2));
  EXPECT_EQ(none.rejected[1].reason,
            "it has 4 gpus, more than running_gpus_max of its user leaves");
}

TEST_F(WholeLimitsTest, AReadyHostThatIsTooLargeForItsUserGoesToAnother) {
  site.host(1, octa);
  push(lease, kBob);
  limit_vcpus(kAnn, 7);
  const HostView& host = site.snapshot.hosts[0];
  EXPECT_EQ(
      pick_next(queue, host, site.pool(), site.policy.types.back(), "", model::Market::kOnDemand),
      lease);
  EXPECT_EQ(queue.pop(lease, {{200'000}, 8}).arrival, 6U) << "of bob, although ann came first";
  EXPECT_FALSE(queue.has_next(lease, {{200'000}, 8}));
}

// Each host that a plan buys for a user can be placed for it, in any order of its limits.
TEST_F(LimitsTest, EveryHostThatIsBoughtForALeaseMayBeHeld) {
  std::size_t placed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const auto number = [&](std::uint64_t low, std::uint64_t below) {
      return static_cast<std::int32_t>(low + random.below(below));
    };
    site = Site();
    queue = demand::Queue();
    site.pool().price_factor_max = 100;
    for (std::int32_t i = number(1, 5); i > 0; --i) {
      const std::int32_t vcpus = number(1, 16);
      const auto o = site.type("t" + std::to_string(i), vcpus, 64, vcpus * number(20'000, 40'000));
      site.snapshot.offerings[o].resources.gpus = number(0, 5);
      if (random.chance(0.2)) site.snapshot.offerings[o].shut = "a gate";
    }
    demand::Allowance allowance{.vcpus = number(1, 60)};
    if (random.chance(0.5)) allowance.gpus = number(0, 12);
    if (random.chance(0.3)) allowance.vcpus.reset();
    for (std::int32_t i = number(1, 3); i > 0; --i) {
      const demand::ClassId of = lease_cls(number(1, 8));
      push(of, kAnn, number(1, 6));
    }
    queue.set_allowance(kAnn, allowance);
    for (const Create& create : plan().creates) {
      const Offering& o = site.snapshot.offerings[create.offering];
      ASSERT_THAT(create.load, SizeIs(1));
      const demand::ClassId of = create.load[0].cls;
      const auto whole = model::Amounts::of(o.resources, o.price_per_hour);
      ASSERT_TRUE(queue.has_next(of, whole)) << seed;
      queue.pop(of, whole);
      allowance.take(whole, 1);
      queue.set_allowance(kAnn, allowance);
      ++placed;
    }
  }
  EXPECT_GT(placed, 300U);
}

}  // namespace
}  // namespace hostler::scheduler
