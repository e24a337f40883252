// Bounds follow recommendations by the rules of Kubernetes' HPA, beside its documented examples.
#include "core/scheduler/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::scheduler {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Without windows and steps.
model::ScalingPolicy plain() {
  model::ScalingPolicy out;
  out.down.window = 0s;
  return out;
}

model::ScalingRate hosts(std::int32_t value, Duration per) {
  return {.value = value, .is_percent = false, .per = per};
}
model::ScalingRate percent(std::int32_t value, Duration per) {
  return {.value = value, .is_percent = true, .per = per};
}

struct ScalingTest : testing::Test {
  std::int64_t decide(std::int64_t recommended, Duration at) {
    last = bound.decide(recommended, present, policy, Mono(at));
    return last.number;
  }
  /// What is decided if the same is recommended every `interval`, until that is reached.
  std::vector<std::int64_t> way_to(std::int64_t wanted, Duration interval) {
    std::vector<std::int64_t> out;
    for (Duration at{}; (out.empty() || out.back() != wanted) && out.size() < 50; at += interval)
      out.push_back(decide(wanted, at));
    return out;
  }
  BoundScaling bound;
  model::ScalingPolicy policy = plain();
  std::int64_t present = 10;
  BoundScaling::Decision last;
};

TEST_F(ScalingTest, WithoutRulesABoundIsWhatIsRecommended) {
  EXPECT_FALSE(bound.current());
  EXPECT_EQ(decide(3, 0s), 3);
  EXPECT_EQ(decide(0, 1s), 0) << "0 is a number as others";
  EXPECT_EQ(decide(900, 2s), 900);
  EXPECT_THAT(last.changes, IsEmpty());
  EXPECT_EQ(bound.current(), 900);
  EXPECT_FALSE(bound.due(policy));
}

// ---- examples of kubernetes.io, "Horizontal Pod Autoscaling"
// -------------------------------------------------------------------------------

TEST_F(ScalingTest, HpaExampleFourPodsOrTenPercentPerMinuteDown) {
  // "80 replicas, 10 percent is 8; 72 replicas, 10 percent is 7.2 but rounded up to 8"; from 40 on
  // 4 pods are more.
  present = 80;
  policy.down.policies = {hosts(4, 1min), percent(10, 1min)};
  EXPECT_THAT(way_to(10, 1min),
              ElementsAre(72, 64, 57, 51, 45, 40, 36, 32, 28, 24, 20, 16, 12, 10));
}

TEST_F(ScalingTest, HpaDefaultUpDoublesOrAddsFourEachFifteenSeconds) {
  present = 1;
  policy.up.policies = {percent(100, 15s), hosts(4, 15s)};
  EXPECT_THAT(way_to(60, 15s), ElementsAre(5, 10, 20, 40, 60));
}

TEST_F(ScalingTest, HpaDefaultDownRemovesAllAtOnce) {
  present = 60;
  policy.down.policies = {percent(100, 15s)};
  EXPECT_EQ(decide(0, 0s), 0);
}

TEST_F(ScalingTest, HpaExampleTenPercentPerMinuteIsCountedFromTheBeginOfTheMinute) {
  // "removes no more than 10% in one minute": what has changed within the period counts.
  present = 100;
  policy.down.policies = {percent(10, 1min)};
  EXPECT_EQ(decide(50, 0s), 90);
  EXPECT_EQ(decide(50, 30s), 90);
  EXPECT_EQ(decide(50, 59s), 90);
  EXPECT_EQ(decide(50, 60s), 81);
  EXPECT_THAT(last.changes,
              ElementsAre("down policies: 81 in place of 50, as 10% per 1m are allowed from 90"));
}

TEST_F(ScalingTest, HpaExampleFivePodsPerMinute) {
  present = 20;
  policy.down.policies = {hosts(5, 1min)};
  EXPECT_THAT(way_to(3, 20s), ElementsAre(15, 15, 15, 10, 10, 10, 5, 5, 5, 3));
}

TEST_F(ScalingTest, HpaStabilisationGoesToTheLargestOfTheWindow) {
  // "the highest desired state of the window", 300 s by default.
  policy = {};
  EXPECT_EQ(decide(10, 0s), 10);
  EXPECT_EQ(decide(8, 60s), 10);
  EXPECT_EQ(decide(6, 120s), 10);
  EXPECT_EQ(decide(6, 299s), 10);
  EXPECT_EQ(decide(6, 300s), 8) << "10 was recommended 300 s ago, 8 within the window";
  EXPECT_EQ(decide(6, 360s), 6);
}

TEST_F(ScalingTest, HpaTolerance) {
  present = 100;
  policy.up.tolerance = policy.down.tolerance = 0.1;
  EXPECT_EQ(decide(110, 0s), 100);
  EXPECT_THAT(last.changes, ElementsAre("tolerance of 0.1: 110 is near 100"));
  EXPECT_EQ(decide(90, 1s), 100);
  EXPECT_EQ(decide(111, 2s), 111);
  EXPECT_EQ(decide(99, 3s), 99);
}

// ---- our own promises
// -------------------------------------------------------------------------------

TEST_F(ScalingTest, UpTakesTheSmallestOfItsWindow) {
  present = 2;
  policy.up.window = 3min;
  EXPECT_EQ(decide(9, 0s), 2);
  EXPECT_EQ(decide(5, 1min), 2);
  EXPECT_EQ(decide(9, 3min), 5);
  EXPECT_THAT(last.changes, ElementsAre("up window of 3m: 5 was wanted 2m ago"));
  EXPECT_EQ(decide(9, 4min), 9);
}

TEST_F(ScalingTest, TheReasonSaysWhatWasRecommendedWhen) {
  policy = {};
  present = 12;
  decide(12, 0s);
  EXPECT_EQ(decide(3, 2min), 12);
  EXPECT_THAT(last.changes, ElementsAre("down window of 5m: 12 was wanted 2m ago"));
}

TEST_F(ScalingTest, TheFirstDecisionAfterAStartShrinksNothingBeforeTheWindowIsOver) {
  policy = {};
  present = 7;
  EXPECT_EQ(decide(0, 0s), 7);
  EXPECT_EQ(bound.due(policy), Mono(5min));
  EXPECT_EQ(decide(0, 299s), 7);
  EXPECT_EQ(decide(0, 5min), 0);
}

TEST_F(ScalingTest, OneStepIsAlwaysPossible) {
  present = 0;
  policy.up.policies = {percent(10, 1min)};
  policy.down.policies = {percent(1, 1min)};
  EXPECT_THAT(way_to(3, 1min), ElementsAre(1, 2, 3)) << "10% of 0 is nothing";
  EXPECT_EQ(decide(0, 10min), 2);
  EXPECT_EQ(decide(0, 11min), 1);
  EXPECT_EQ(decide(0, 12min), 0);
}

TEST_F(ScalingTest, ABoundThatFlipsMovesNoFurtherThanItsSteps) {
  policy.up.policies = policy.down.policies = {hosts(2, 1min)};
  for (int i = 0; i < 600; ++i) {
    const std::int64_t number = decide(i % 2 == 0 ? 100 : 0, i * 1ms);
    EXPECT_GE(number, 8);
    EXPECT_LE(number, 12);
  }
}

TEST_F(ScalingTest, ABoundThatFlipsStaysUpWithTheDefaultWindow) {
  policy = {};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t number = decide(i % 2 == 0 ? 20 : 0, i * 10s);
    EXPECT_EQ(number, i == 0 ? 20 : 20) << i;
  }
}

TEST_F(ScalingTest, AfterAGapTheNumberOfBeforeCounts) {
  policy = {};
  EXPECT_EQ(decide(20, 0s), 20);
  for (Duration at = 10s; at <= 1h; at += 10s) bound.hold(policy, Mono(at));
  EXPECT_EQ(decide(0, 1h + 10s), 20) << "a counter that was reset says little at first";
  EXPECT_EQ(decide(0, 1h + 5min), 0);
}

// A bug: a stall that was longer than the window emptied it, and all shrank at the first decision.
TEST_F(ScalingTest, NothingShrinksAtOnceAfterAStall) {
  policy = {};
  EXPECT_EQ(decide(20, 0s), 20);
  EXPECT_EQ(decide(0, 1h), 20) << "the window begins again";
  EXPECT_EQ(decide(0, 1h + 299s), 20);
  EXPECT_EQ(decide(0, 1h + 5min), 0);
}

TEST_F(ScalingTest, AWindowThatIsShorterThanTheTimeBetweenDecisionsEnds) {
  policy.down.window = 5s;
  EXPECT_EQ(decide(10, 0s), 10);
  EXPECT_EQ(decide(0, 10s), 0) << "bounds are decided every 10 s: that is no stall";
}

// A bug: after a gap, a maximum went on from what it was before, and ended hosts of known minimums.
TEST_F(ScalingTest, AHoldThatEndsBeginsAtTheLeastThatItIsTold) {
  policy = {};
  policy.up.policies = policy.down.policies = {hosts(1, 1min)};
  EXPECT_EQ(decide(10, 0s), 10);
  bound.hold(policy, Mono(10s));
  bound.end_hold(20, policy, Mono(20s));
  EXPECT_EQ(decide(25, 20s), 21) << "not 11";
  EXPECT_EQ(decide(5, 30s), 21) << "the window holds";
  EXPECT_EQ(decide(5, 20s + 5min), 20);
}

TEST_F(ScalingTest, WithoutAHoldAndWithLessABoundGoesOn) {
  EXPECT_EQ(decide(10, 0s), 10);
  bound.end_hold(20, policy, Mono(1s));
  EXPECT_EQ(bound.current(), 10) << "nothing was held";
  bound.hold(policy, Mono(2s));
  bound.end_hold(4, policy, Mono(3s));
  EXPECT_EQ(bound.current(), 10);
}

TEST_F(ScalingTest, IsDueWhenAWindowOrAPeriodEnds) {
  present = 10;
  policy.down = {.window = 5min, .policies = {hosts(2, 1min)}, .tolerance = 0};
  decide(0, 0s);
  EXPECT_EQ(bound.due(policy), Mono(5min));
  decide(0, 5min);
  EXPECT_EQ(bound.current(), 8);
  EXPECT_EQ(bound.due(policy), Mono(6min));
  decide(8, 6min);
  EXPECT_EQ(bound.due(policy), std::nullopt);
}

TEST_F(ScalingTest, OtherRulesHoldAtOnceAfterAReload) {
  policy = {};
  decide(0, 0s);
  policy = plain();
  EXPECT_EQ(decide(0, 1s), 0);
}

TEST_F(ScalingTest, MemoryIsBoundedHoweverOftenANumberChanges) {
  policy = {};
  policy.down.window = 1h;
  policy.down.policies = {hosts(1'000'000, 30min)};
  present = 1'000'000;
  for (int i = 0; i < 20'000; ++i) decide(1'000'000 - i, i * 1ms);
  EXPECT_EQ(*bound.current(), 1'000'000) << "the largest of the window is not forgotten";
}

}  // namespace
}  // namespace hostler::scheduler
