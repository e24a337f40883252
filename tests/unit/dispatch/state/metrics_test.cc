#include <gmock/gmock.h>

#include "core/dispatch/state/metrics/zones.h"
#include "tests/unit/dispatch/state/metrics_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::HasSubstr;

TEST_F(MetricsTest, AMetricIsUnknownUntilItWasRead) {
  EXPECT_EQ(flaw(), MetricFlaw::kNeverRead);
  read(7);
  EXPECT_EQ(value().number, 7);
  EXPECT_EQ(metrics.value("other", {}, now).judgement.flaw, MetricFlaw::kNeverRead);
}

// F-W5.
TEST_F(MetricsTest, AReadingThatFailedMakesTheMetricUnknownAndSaysWhy) {
  read(7);
  fail("HTTP 500");
  EXPECT_EQ(flaw(), MetricFlaw::kFailed);
  EXPECT_EQ(value().judgement.text, "HTTP 500");
  EXPECT_FALSE(value().for_bounds());
  read(8);
  EXPECT_EQ(value().number, 8);
}

// F-W5.
TEST_F(MetricsTest, AMetricOfWhichNoReadingEndsForThreeIntervalsIsLate) {
  read(7);
  pass(30s);
  EXPECT_EQ(value().number, 7);
  pass(1ns);
  EXPECT_EQ(flaw(), MetricFlaw::kLate);
}

TEST_F(MetricsTest, AMetricThatIsNeverReadIsLateInTheEnd) {
  pass(31s);
  EXPECT_EQ(flaw(), MetricFlaw::kLate);
}

TEST_F(MetricsTest, WhatIsNoNumberOrOutsideTheValidRangeIsUnknown) {
  auto policy = rps();
  policy.valid_min = 0;
  policy.valid_max = 100;
  configure(policy);
  read(kNan);
  EXPECT_EQ(flaw(), MetricFlaw::kNan);
  read(-kInf);
  EXPECT_EQ(flaw(), MetricFlaw::kInfinite);
  read(-0.5);
  EXPECT_EQ(value().judgement.text, "-0.5 is below 0, valid.min");
  read(100.5);
  EXPECT_EQ(value().judgement.text, "100.5 is above 100, valid.max");
  read(100);
  EXPECT_EQ(value().number, 100);
}

TEST_F(MetricsTest, OneSpikeIsLeftOutAndANewLevelThatStaysIsAccepted) {
  auto policy = rps();
  policy.max_step = 10;
  configure(policy);
  read(50);
  read(61);
  EXPECT_EQ(value().judgement.text, "from 50 to 61 in one reading is more than 10, max_step");
  read(50);
  EXPECT_EQ(flaw(), MetricFlaw::kStep) << "a counter that was reset, and back";
  read(51);
  EXPECT_EQ(value().number, 51);
  read(900);
  fail("HTTP 500");
  read(kNan);
  read(901);
  EXPECT_EQ(value().number, 901);
}

TEST_F(MetricsTest, AnOldSampleIsUnknownAlsoIfReadingsGoOn) {
  auto policy = rps();
  policy.max_age = 1min;
  configure(policy);
  const Wall taken = now.wall;
  pass(1min);
  read({{.key = {}, .value = 7, .taken = taken}});
  EXPECT_EQ(value().number, 7);
  EXPECT_EQ(metrics.age_seconds("rps", {}, now.wall), 60);
  pass(1s);
  EXPECT_EQ(flaw(), MetricFlaw::kOld);
}

TEST_F(MetricsTest, ASampleFromTheFutureIsUnknown) {
  read({{.key = {}, .value = 7, .taken = now.wall + 1min}});
  EXPECT_EQ(value().number, 7);
  EXPECT_EQ(metrics.age_seconds("rps", {}, now.wall), 0);
  read({{.key = {}, .value = 7, .taken = now.wall + 61s}});
  EXPECT_EQ(flaw(), MetricFlaw::kFuture);
  EXPECT_THAT(value().judgement.text, HasSubstr("a clock is wrong"));
}

TEST_F(MetricsTest, OnFailureValueCountsOnceTheMetricWasSeen) {
  auto policy = rps();
  policy.on_failure = model::OnFailure::kValue;
  policy.value = 3;
  configure(policy);
  fail("HTTP 500");
  EXPECT_FALSE(value().for_bounds()) << "nothing was seen since the start";
  read(kNan);
  EXPECT_EQ(value().for_bounds(), 3) << "0/0";
  EXPECT_FALSE(value().number);
  fail("HTTP 500");
  EXPECT_EQ(value().for_bounds(), 3);
}

TEST_F(MetricsTest, OnFailureLastHoldsTheLastGoodValueForItsTime) {
  auto policy = rps();
  policy.on_failure = model::OnFailure::kLast;
  policy.last_for = 1min;
  configure(policy);
  read(7);
  pass(1min);
  fail("HTTP 500");
  EXPECT_EQ(value().for_bounds(), 7);
  pass(1s);
  fail("HTTP 500");
  EXPECT_FALSE(value().for_bounds());
}

// A bug: readings that went on to say a sample past max_age renewed the last good value.
TEST_F(MetricsTest, OnFailureLastEndsAlsoWhereReadingsSayTheSameOldSample) {
  auto policy = rps();
  policy.max_age = 30s;
  policy.on_failure = model::OnFailure::kLast;
  policy.last_for = 1min;
  configure(policy);
  const Wall taken = now.wall;
  for (int n = 0; n < 10; ++n) {
    read({{.key = {}, .value = 7, .taken = taken}});
    EXPECT_EQ(value().for_bounds(), 7) << n;
    pass(10s);
  }
  read({{.key = {}, .value = 7, .taken = taken}});
  EXPECT_FALSE(value().for_bounds()) << "it was good for 30 s, and then for a minute";
}

TEST_F(MetricsTest, OnFailureLastIsNoSampleFromTheFuture) {
  auto policy = rps();
  policy.on_failure = model::OnFailure::kLast;
  policy.last_for = 1min;
  configure(policy);
  read({{.key = {}, .value = 7, .taken = now.wall + 1h}});
  EXPECT_FALSE(value().for_bounds());
}

TEST_F(MetricsTest, AMetricWithALabelHasAValueForEachKey) {
  auto policy = rps();
  policy.by = "pool";
  configure(policy);
  read({{.key = "web", .value = 1, .taken = now.wall},
        {.key = "api", .value = kNan, .taken = now.wall}});
  EXPECT_EQ(value("web").number, 1);
  EXPECT_EQ(flaw("api"), MetricFlaw::kNan);
  EXPECT_EQ(value("other").judgement.text, "it has no value for 'other'");
  read({{.key = "api", .value = 2, .taken = now.wall}});
  EXPECT_EQ(flaw("web"), MetricFlaw::kMissing) << "a reading replaces the one before";
  EXPECT_EQ(value("api").number, 2);
}

TEST_F(MetricsTest, AReadingWithTooManyKeysOrOneKeyTwiceIsNotUsed) {
  auto policy = rps();
  policy.by = "pool";
  configure(policy);
  std::vector<model::MetricSample> many(Metrics::kKeysMax + 1);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].key = std::to_string(i);
  read(many);
  EXPECT_EQ(value("7").judgement.text, "it has 10001 values, at most 10000 are allowed");
  read({{.key = "web", .value = 1, .taken = now.wall},
        {.key = "web", .value = 2, .taken = now.wall}});
  EXPECT_EQ(value("web").judgement.text, "it has two values for 'web'");
}

TEST_F(MetricsTest, AMetricWithoutALabelHasOneValue) {
  read({{.key = {}, .value = 1, .taken = now.wall}, {.key = "b", .value = 2, .taken = now.wall}});
  EXPECT_EQ(value().judgement.text, "it has 2 values, not one");
  read(std::vector<model::MetricSample>{});
  EXPECT_EQ(flaw(), MetricFlaw::kFailed);
}

TEST_F(MetricsTest, KeysThatComeAndGoAreForgotten) {
  auto policy = rps();
  policy.by = "instance";
  configure(policy, 1h);
  for (int round = 0; round < 3; ++round) {
    std::vector<model::MetricSample> samples(Metrics::kKeysMax);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = {
          .key = std::to_string(round) + "-" + std::to_string(i), .value = 1, .taken = now.wall};
    read(samples);
    EXPECT_EQ(value(std::to_string(round) + "-7").number, 1);
    pass(10s);
  }
  EXPECT_EQ(flaw("0-7"), MetricFlaw::kMissing);
  EXPECT_FALSE(metrics.age_seconds("rps", "0-7", now.wall)) << "it takes no memory any more";
}

TEST_F(MetricsTest, AReloadJudgesWhatWasReadByTheNewRules) {
  configure(rps(), 1min);
  for (int n = 0; n < 7; ++n, pass(10s)) read(7);
  auto policy = rps();
  policy.valid_max = 5;
  configure(policy, 1min);
  EXPECT_EQ(flaw(), MetricFlaw::kInvalid);
  EXPECT_FALSE(average(1min)) << "it does not count in averages either";
  policy.valid_max = 9;
  configure(policy, 1min);
  EXPECT_EQ(value().number, 7);
  policy.by = "pool";
  configure(policy);
  EXPECT_EQ(flaw("web"), MetricFlaw::kNeverRead);
}

TEST_F(MetricsTest, AReloadTakesNoLastValueThatIsNotValidAnyMore) {
  auto policy = rps();
  policy.on_failure = model::OnFailure::kLast;
  policy.last_for = 1min;
  configure(policy);
  read(7);
  fail("HTTP 500");
  EXPECT_EQ(value().for_bounds(), 7);
  policy.valid_max = 5;
  configure(policy);
  EXPECT_FALSE(value().for_bounds());
}

TEST_F(MetricsTest, AReloadWithAnotherMaxStepJudgesTheLastStepAgain) {
  auto policy = rps();
  policy.max_step = 10;
  configure(policy);
  read(50);
  read(70);
  EXPECT_EQ(flaw(), MetricFlaw::kStep);
  policy.max_step = 20;
  configure(policy);
  EXPECT_EQ(value().number, 70);
}

// A bug: "rps / 20" and a query per second were computed with the value of a query per minute.
TEST_F(MetricsTest, AReloadWithAnotherSourceForgetsWhatTheOldOneSaidAndSays) {
  auto policy = rps();
  policy.source = source = 1;
  configure(policy, 1min);
  for (int n = 0; n < 7; ++n, pass(10s)) read(1200);
  EXPECT_EQ(average(1min), 1200);
  policy.source = 2;
  configure(policy, 1min);
  EXPECT_EQ(flaw(), MetricFlaw::kNeverRead);
  EXPECT_FALSE(average(1min));
  read(1200);
  EXPECT_EQ(flaw(), MetricFlaw::kNeverRead) << "it was under way";
  was({{60s, 1200}, {40s, 1200}, {20s, 1200}});
  source = 2;
  read(20);
  EXPECT_EQ(value().number, 20);
  EXPECT_FALSE(average(1min)) << "the past is of the old one, too";
}

TEST_F(MetricsTest, OutcomesAreCounted) {
  read(1);
  read(kNan);
  fail("HTTP 500");
  fail("HTTP 500");
  EXPECT_EQ(metrics.outcomes(),
            (Metrics::Outcomes{{{"rps", "ok"}, 1}, {{"rps", "nan"}, 1}, {{"rps", "failed"}, 2}}));
  EXPECT_FALSE(metrics.is_known("rps", now));
  read(1);
  EXPECT_TRUE(metrics.is_known("rps", now));
}

TEST(ZonesTest, TheHourAndTheDayFollowTheOffsets) {
  Zones zones;
  const Wall monday{1'735'516'800'000'000};  // 2024-12-30, 00:00 UTC.
  EXPECT_FALSE(zones.hour("Europe/Berlin", monday));
  zones.take({{"Europe/Berlin", {{monday, 3600}, {monday + 24h, 7200}}},
              {"America/New_York", {{monday + -1h, -5 * 3600}}}});
  EXPECT_EQ(zones.hour("Europe/Berlin", monday), 1);
  EXPECT_EQ(zones.weekday("Europe/Berlin", monday), 1);
  EXPECT_EQ(zones.hour("America/New_York", monday), 19);
  EXPECT_EQ(zones.weekday("America/New_York", monday), 7) << "it is Sunday there";
  EXPECT_EQ(zones.hour("Europe/Berlin", monday + 24h), 2);
  EXPECT_FALSE(zones.hour("Europe/Berlin", monday + -1s)) << "the clock went back";
  EXPECT_EQ(zones.hour("America/New_York", Wall{monday.us - 1}), 18);
}

}  // namespace
}  // namespace hostler::dispatch
