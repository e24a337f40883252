// From what the expressions of a pool gave to its bounds.
#include "core/scheduler/decide_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hostler::scheduler {
namespace {

using enum BoundOf;
using namespace std::chrono_literals;
using testing::ElementsAre;

struct DecideBoundsTest : testing::Test {
  DecideBoundsTest() { policy.down.window = 0s; }
  DecidedBounds decide(const std::vector<Computed>& computed) {
    return decide_bounds(computed, scaling, policy, present, ceiling, now);
  }
  std::optional<std::int64_t> number(double value) {
    return decide({{kStartedMin, value, ""}}).bounds.at(0).number;
  }
  PoolScaling scaling;
  model::ScalingPolicy policy;
  HostCounts present{.started = 4, .created = 6};
  std::optional<HostCeiling> ceiling = HostCeiling{100, "ceilings.instances_max of pool web"};
  Mono now = Mono(1h);
};

TEST_F(DecideBoundsTest, RoundsHalfAwayFromZeroAndNegativeIsZero) {
  const std::vector<std::pair<double, std::int64_t>> expected{
      {0, 0},    {0.49, 0}, {0.5, 1}, {1.5, 2},    {2.5, 3},    {3.49, 3},
      {-0.4, 0}, {-0.5, 0}, {-17, 0}, {99.5, 100}, {1e-300, 0}, {-1e300, 0}};
  for (const auto& [value, hosts] : expected) EXPECT_EQ(number(value), hosts) << value;
}

// F-W3: numbers beyond 2^63 were taken for the smallest integer, and ended the fleet.
TEST_F(DecideBoundsTest, FW3HugeNumbersAreTheCeilingWithAnAlarm) {
  for (const double huge : {100.6, 1e9, 9.3e18, 1e300, std::numeric_limits<double>::max()}) {
    const DecidedBounds out = decide({{kStartedMin, huge, ""}});
    EXPECT_EQ(out.bounds.at(0).number, 100) << huge;
    EXPECT_TRUE(out.is_at_ceiling) << huge;
  }
  EXPECT_EQ(decide({{kStartedMin, 101, ""}}).notes.at(0).changes.at(0),
            "ceiling: 101 is above 100, ceilings.instances_max of pool web");
  EXPECT_FALSE(decide({{kStartedMin, 100, ""}}).is_at_ceiling);
  const DecidedBounds both = decide({{kStartedMin, 9, ""}, {kCreatedMin, 101, ""}});
  EXPECT_FALSE(both.notes.at(0).is_at_ceiling);
  EXPECT_TRUE(both.notes.at(1).is_at_ceiling) << "the note says which bound it is";
  ceiling.reset();
  EXPECT_EQ(number(1e300), kBoundMax);
}

TEST_F(DecideBoundsTest, FW3NotANumberAndInfinityAreUnknown) {
  for (const double none : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const DecidedBounds out = decide({{kStartedMax, none, "rps / 0"}});
    EXPECT_FALSE(out.bounds.at(0).number);
    EXPECT_EQ(out.bounds.at(0).reason,
              std::isnan(none) ? "the expression gave NaN" : "the expression gave infinity");
    EXPECT_FALSE(out.is_at_ceiling);
  }
}

// F-W4: a minimum above a maximum created and destroyed by turns, for ever.
TEST_F(DecideBoundsTest, FW4AMinimumAboveItsMaximumMakesBothUnknown) {
  const DecidedBounds out = decide(
      {{kStartedMin, 12, ""}, {kStartedMax, 5, ""}, {kCreatedMin, 7, ""}, {kCreatedMax, 7, ""}});
  EXPECT_FALSE(out.bounds.at(0).number || out.bounds.at(1).number);
  EXPECT_EQ(out.bounds.at(0).reason, "the minimum of 12 is above the maximum of 5");
  EXPECT_EQ(out.notes.at(1).unknown, out.bounds.at(0).reason);
  EXPECT_EQ(out.bounds.at(2).number, 7) << "the others are known";
}

TEST_F(DecideBoundsTest, FW4TheCeilingHidesNoContradiction) {
  const DecidedBounds out = decide({{kStartedMin, 300, ""}, {kStartedMax, 200, ""}});
  EXPECT_FALSE(out.bounds.at(0).number || out.bounds.at(1).number);
}

TEST_F(DecideBoundsTest, AnUnknownValueHoldsAndSaysWhy) {
  const DecidedBounds out =
      decide({{kStartedMin, {}, "metric rps: no answer in 5s"}, {kStartedMax, 9, "9 shards"}});
  EXPECT_FALSE(out.bounds.at(0).number);
  EXPECT_EQ(out.bounds.at(0).reason, "metric rps: no answer in 5s");
  EXPECT_EQ(out.bounds.at(0).source, kExpressionSource);
  EXPECT_EQ(out.bounds.at(1).number, 9);
  EXPECT_EQ(out.bounds.at(1).reason, "9 shards");
}

TEST_F(DecideBoundsTest, EachBoundStartsFromTheHostsThatItCounts) {
  policy = {};
  const DecidedBounds out = decide({{kStartedMin, 0, ""}, {kCreatedMax, 0, ""}});
  EXPECT_EQ(out.bounds.at(0).number, 4);
  EXPECT_EQ(out.bounds.at(1).number, 6);
  EXPECT_EQ(out.due, now + 5min);
  EXPECT_EQ(out.bounds.at(0).reason, "computed 0") << "and no time: a plan is made if it changes";
  EXPECT_THAT(out.notes.at(0).changes, ElementsAre("down window of 5m: 4 was wanted 0s ago"));
}

// A bug: a known minimum creates beyond a maximum that is unknown; once that was known again it
// rose from its old number by its policies, and ended these hosts.
TEST_F(DecideBoundsTest, AMaximumThatComesBackUndercutsNoHostsThatAreThere) {
  policy.up.policies = {{.value = 1, .is_percent = false, .per = 1min}};
  EXPECT_EQ(decide({{kStartedMax, 4, ""}}).bounds.at(0).number, 4);
  EXPECT_FALSE(decide({{kStartedMax, {}, ""}}).bounds.at(0).number);
  present = {.started = 20, .created = 22};
  now += 10s;
  EXPECT_EQ(decide({{kStartedMax, 30, ""}}).bounds.at(0).number, 21);
}

TEST_F(DecideBoundsTest, AMinimumThatComesBackKeepsNoHostsThatAreThere) {
  EXPECT_EQ(decide({{kStartedMin, 4, ""}}).bounds.at(0).number, 4);
  policy.down.window = 5min;
  EXPECT_FALSE(decide({{kStartedMin, {}, ""}}).bounds.at(0).number);
  present.started = 20;
  now += 10s;
  EXPECT_EQ(decide({{kStartedMin, 2, ""}}).bounds.at(0).number, 4) << "not 20";
}

TEST_F(DecideBoundsTest, EqualDecisionsAreEqualBounds) {
  policy = {};
  const auto first = decide({{kStartedMin, 0, "rps 3"}}).bounds;
  now += 10s;
  EXPECT_EQ(decide({{kStartedMin, 0, "rps 3"}}).bounds, first);
}

TEST_F(DecideBoundsTest, ACeilingThatWasLoweredHoldsAtOnce) {
  policy = {};
  present.started = 90;
  EXPECT_EQ(number(90), 90);
  ceiling->hosts = 50;
  EXPECT_EQ(number(90), 50);
}

TEST(HostCeilingTest, TheLowestOfPoolSetsTogetherAndSite) {
  model::SitePolicy policy;
  policy.sets.resize(2);
  policy.sets[0].name = "a", policy.sets[1].name = "b";
  policy.pools.resize(1);
  policy.pools[0].name = "web";
  policy.pools[0].sets = {"a", "b"};
  EXPECT_FALSE(host_ceiling(policy, 0));
  policy.sets[0].ceilings.instances_max = 10;
  EXPECT_FALSE(host_ceiling(policy, 0)) << "the other set has none";
  policy.sets[1].ceilings.instances_max = 5;
  EXPECT_EQ(host_ceiling(policy, 0)->hosts, 15);
  EXPECT_EQ(host_ceiling(policy, 0)->whose, "ceilings.instances_max of the sets of pool web");
  policy.ceilings.instances_max = 14;
  EXPECT_EQ(host_ceiling(policy, 0)->whose, "ceilings.instances_max of the site");
  policy.pools[0].ceilings.instances_max = 3;
  EXPECT_EQ(host_ceiling(policy, 0)->hosts, 3);
}

}  // namespace
}  // namespace hostler::scheduler
