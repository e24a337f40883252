#include "core/simulation/evaluation.h"

#include <gmock/gmock.h>

#include <cmath>

namespace hostler::simulation {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// A pool "web" whose bounds are expressions over the metrics `rps` and `load`.
struct EvaluationTest : testing::Test {
  model::SitePolicy policy;
  Given given;

  EvaluationTest() {
    for (const char* name : {"rps", "load"}) policy.metrics.emplace_back().name = name;
    model::PoolPolicy& pool = policy.pools.emplace_back();
    pool.name = "web";
    pool.ceilings.instances_max = 50;
    pool.scaling.down.window = 0s;
    given.now = {.mono = Mono{1000h}, .wall = Wall{1'700'000'000'000'000}};
  }
  model::PoolPolicy& pool() { return policy.pools[0]; }
  void say(const std::string& metric, double value) {
    given.readings.push_back({metric, {{"", value, given.now.wall}}, {}});
  }
  Evaluation run() { return evaluate(policy, 0, given); }
  BoundNow bound(const std::string& key) {
    for (BoundNow& one : run().bounds)
      if (one.key == key) return std::move(one);
    return {};
  }
};

TEST_F(EvaluationTest, ATextBecomesARoundedNumberAndNumbersOfTheConfigurationFollow) {
  pool().sizes.texts.min = "rps / 100";
  pool().sizes.max = 7;
  say("rps", 250);
  const Evaluation out = run();
  ASSERT_EQ(out.bounds.size(), 2U);
  EXPECT_EQ(out.bounds[0].key, "min");
  EXPECT_EQ(out.bounds[0].text, "rps / 100");
  EXPECT_EQ(out.bounds[0].note.computed, 2.5);
  EXPECT_EQ(out.bounds[0].note.number, 3);
  EXPECT_EQ(out.bounds[1].key, "max");
  EXPECT_EQ(out.bounds[1].text, "");
  EXPECT_EQ(out.bounds[1].note.number, 7);
  ASSERT_EQ(out.inputs.size(), 1U);
  EXPECT_EQ(out.inputs[0].text, "rps");
  EXPECT_EQ(out.inputs[0].value, 250);
  EXPECT_EQ(out.inputs[0].age, 0);
}

// F-W5: one metric that is missing says so, and only its bounds are unknown.
TEST_F(EvaluationTest, AMetricThatFailsMakesItsBoundsUnknownAndNoOthers) {
  pool().sizes.texts = {.min = "rps", .max = "load", .created_min = {}, .created_max = {}};
  say("load", 9);
  given.readings.push_back({"rps", {}, "no route to host"});
  EXPECT_EQ(bound("min").note.number, std::nullopt);
  EXPECT_THAT(bound("min").note.unknown, HasSubstr("no route to host"));
  EXPECT_EQ(bound("max").note.number, 9);
  const InputNow input = run().inputs.at(0);
  EXPECT_EQ(input.value, std::nullopt);
  EXPECT_EQ(input.note, "no route to host");
}

TEST_F(EvaluationTest, WhatAMetricMayNotBeIsToldAsInTheDaemon) {
  pool().sizes.texts.min = "rps";
  policy.metrics[0].valid_max = 10;
  say("rps", 11);
  EXPECT_THAT(bound("min").note.unknown, HasSubstr("11 is above 10, valid.max"));
  given.readings.clear();
  say("rps", std::nan(""));
  EXPECT_THAT(bound("min").note.unknown, HasSubstr("NaN"));
}

// F-W3, F-W4: neither a huge number nor a minimum above its maximum becomes a bound.
TEST_F(EvaluationTest, CeilingAndContradictionAreTold) {
  pool().sizes.texts.min = "1e300";
  EXPECT_EQ(bound("min").note.number, 50);
  EXPECT_THAT(bound("min").note.changes, ElementsAre(HasSubstr("ceiling")));
  pool().sizes.texts = {.min = "3", .max = "2", .created_min = {}, .created_max = {}};
  EXPECT_EQ(bound("min").note.number, std::nullopt);
  EXPECT_EQ(bound("max").note.number, std::nullopt);
  EXPECT_THAT(bound("max").note.unknown, HasSubstr("above"));
}

TEST_F(EvaluationTest, RulesApplyOnlyWhereItIsKnownHowManyHostsThereAre) {
  pool().sizes.texts.min = "rps";
  pool().scaling.up.policies = {{.value = 2, .is_percent = false, .per = 1min}};
  say("rps", 30);
  EXPECT_EQ(bound("min").note.number, 30);
  given.knows_hosts = true;
  given.counts.started = 10;
  EXPECT_EQ(bound("min").note.wanted, 30);
  EXPECT_EQ(bound("min").note.number, 12);
  EXPECT_FALSE(bound("min").note.changes.empty());
}

TEST_F(EvaluationTest, AMetricIsTakenToHaveBeenWhatItIs) {
  pool().sizes.texts.min = "avg_over(rps, \"10m\") + max_over(rps, \"5m\")";
  say("rps", 4);
  EXPECT_EQ(bound("min").note.number, 8);
}

TEST_F(EvaluationTest, AMetricWithALabelIsThatOfThePool) {
  policy.metrics[0].by = "pool";
  pool().sizes.texts.min = "rps";
  given.readings.push_back({"rps", {{"other", 1, given.now.wall}, {"web", 6, given.now.wall}}, {}});
  EXPECT_EQ(bound("min").note.number, 6);
}

TEST_F(EvaluationTest, ASampleThatIsTakenMeanwhileIsNotOlderThanNow) {
  pool().sizes.texts.min = "rps";
  given.readings.push_back({"rps", {{"", 1, given.now.wall + 2s}}, {}});
  EXPECT_EQ(run().inputs.at(0).age, 0);
}

TEST_F(EvaluationTest, TheNoteOfAValueThatFailedIsASentenceWithoutParentheses) {
  pool().sizes.texts.min = "rps";
  policy.metrics[0].valid_max = 10;
  policy.metrics[0].on_failure = model::OnFailure::kValue;
  policy.metrics[0].value = 3;
  say("rps", 11);
  EXPECT_EQ(run().inputs.at(0).value, 3);
  EXPECT_EQ(run().inputs.at(0).note, "on_failure: 11 is above 10, valid.max");
}

TEST_F(EvaluationTest, ASingleTextFindsMetricsWithALabelByAKeyOfItsOwn) {
  policy.metrics[0].by = "host";
  given.readings.push_back({"rps", {{kTextKey, 6, given.now.wall}}, {}});
  const auto out = evaluate(policy, "rps", given);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->bounds.at(0).note.number, 6);
}

TEST_F(EvaluationTest, TheTimeOfDayIsThatOfTheZone) {
  pool().sizes.texts.min = "hour(\"X\")";
  given.now.wall = Wall{23LL * 3600 * 1'000'000};
  given.zones = {{"X", {{given.now.wall, 2 * 3600}}}};
  EXPECT_EQ(bound("min").note.number, 1);
}

TEST_F(EvaluationTest, ASingleTextHasNoCeilingAndMayBeTrueOrFalse) {
  const auto result = [&](const std::string& text) {
    const auto out = evaluate(policy, text, given);
    EXPECT_TRUE(out) << text;
    return out ? out->bounds.at(0).note.number : std::nullopt;
  };
  EXPECT_EQ(result("2 ** 10"), 1024);
  EXPECT_EQ(result("1 < 2"), 1);
  EXPECT_EQ(result("2 < 1"), 0);
  const auto bad = evaluate(policy, "1 + nope", given);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("nope"));
  EXPECT_THAT(bad.error().message, HasSubstr("^"));
}

TEST_F(EvaluationTest, InputsAreNamedOnce) {
  pool().sizes.texts = {
      .min = "rps + queued", .max = "rps + idle", .created_min = {}, .created_max = {}};
  EXPECT_EQ(inputs_of(policy, 0).size(), 3U);
  EXPECT_THAT(run().inputs, testing::SizeIs(3));
}

}  // namespace
}  // namespace hostler::simulation
