#include "core/dispatch/state/metrics/metrics.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/dispatch/state/metrics/zones.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

model::MetricPolicy rps() {
  model::MetricPolicy out;
  out.name = "rps";
  out.interval = 10s;
  return out;
}

/// One metric, "rps", that is read each 10 s.
class MetricsTest : public testing::Test {
 protected:
  explicit MetricsTest(model::MetricPolicy policy = rps()) { configure(std::move(policy)); }

  void configure(model::MetricPolicy policy, Duration window = {}) {
    metrics.configure({std::move(policy)}, {{"rps", window}}, now);
  }
  void read(double value) { read({{.key = {}, .value = value, .taken = now.wall}}); }
  void read(std::vector<model::MetricSample> samples) {
    metrics.take(model::MetricReading{"rps", std::move(samples), {}, source}, now);
  }
  void fail(const std::string& why) { metrics.take(model::MetricReading{"rps", {}, why}, now); }
  void pass(Duration time) {
    now.mono += time;
    now.wall = now.wall + time;
  }
  MetricValue value(const std::string& key = {}) const { return metrics.value("rps", key, now); }
  MetricFlaw flaw(const std::string& key = {}) const { return value(key).judgement.flaw; }
  std::optional<double> average(Duration window) const {
    return metrics.over("rps", {}, Metrics::Over::kAverage, window, now.mono).first;
  }

  /// Before this start, so long ago.
  void was(std::vector<std::pair<Duration, double>> values, const std::string& key = {}) {
    model::MetricPast past{"rps", {}, source};
    for (const auto& [age, value] : values)
      past.samples.push_back({.key = key, .value = value, .taken = now.wall + -age});
    metrics.take(past, now);
  }

  std::uint64_t source = 0;  ///< Of what is read.
  Metrics metrics;
  Now now{Mono(100h), Wall{1'700'000'000'000'000}};
};

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

TEST_F(MetricsTest, AnAverageIsKnownOnceGoodSamplesCoverItsTime) {
  configure(rps(), 1min);
  read(10);
  for (int n = 0; n < 4; ++n) {
    pass(10s);
    read(20);
    EXPECT_FALSE(average(1min));
  }
  pass(10s);
  fail("HTTP 500");
  EXPECT_EQ(average(1min), (10 + 4 * 20) / 5.0) << "the first one is one interval younger";
  pass(10s);
  read(kNan);
  EXPECT_EQ(average(1min), 20) << "what is not good does not count";
  EXPECT_EQ(metrics.over("rps", {}, Metrics::Over::kLargest, 1min, now.mono).first, 20);
  pass(2min);
  EXPECT_FALSE(average(1min)) << "there is no sample";
}

TEST_F(MetricsTest, SamplesOfBeforeTheStartCountInAveragesOnly) {
  configure(rps(), 1min);
  model::MetricPast past{"rps", {}};
  for (const Duration age : {60s, 40s, 20s})
    past.samples.push_back({.key = {}, .value = 30, .taken = now.wall + -age});
  past.samples.push_back({.key = {}, .value = 1e9, .taken = now.wall + 1h});
  metrics.take(past, now);
  EXPECT_EQ(flaw(), MetricFlaw::kNeverRead);
  read(60);
  EXPECT_EQ(average(1min), 40);
  metrics.take(past, now);
  EXPECT_EQ(average(1min), 40) << "later ones are of no use";
}

// A bug: samples that were refused when they were read counted in averages after a restart.
TEST_F(MetricsTest, SamplesOfBeforeTheStartAreJudgedAsThoseOfNow) {
  auto policy = rps();
  policy.valid_min = 0;
  policy.max_step = 100;
  configure(policy, 1min);
  was({{60s, 30},
       {50s, 30},
       {40s, 9000},
       {30s, 30},
       {20s, 30},
       {15s, kNan},
       {14s, kInf},
       {10s, -5}});
  read(30);
  EXPECT_EQ(metrics.over("rps", {}, Metrics::Over::kLargest, 1min, now.mono).first, 30);
  EXPECT_EQ(average(1min), 30);
}

TEST_F(MetricsTest, TheFirstReadingIsComparedWithTheLastOneOfBeforeTheStart) {
  auto policy = rps();
  policy.max_step = 100;
  configure(policy, 1min);
  was({{20s, 30}, {10s, 30}});
  read(9000);
  EXPECT_EQ(flaw(), MetricFlaw::kStep);
  pass(10s);
  read(9000);
  EXPECT_EQ(value().number, 9000);
}

TEST_F(MetricsTest, TheLastKeyThatIsAllowedHasAllItsSamplesOfBeforeTheStart) {
  auto policy = rps();
  policy.by = "instance";
  configure(policy, 1min);
  for (std::size_t i = 0; i < Metrics::kKeysMax; ++i)
    was({{60s, 1}, {40s, 1}, {20s, 1}}, std::to_string(i));
  was({{20s, 1}}, "too many");
  was({{20s, 1}}, "");
  EXPECT_EQ(metrics.over("rps", "9999", Metrics::Over::kAverage, 1min, now.mono).first, 1);
  EXPECT_FALSE(metrics.over("rps", "too many", Metrics::Over::kAverage, 10s, now.mono).first);
}

// A bug: the first reading after a start forgot the past of keys that it did not have.
TEST_F(MetricsTest, AKeyThatIsMissingAtAStartKeepsItsPast) {
  auto policy = rps();
  policy.by = "pool";
  configure(policy, 1min);
  was({{60s, 1}, {40s, 1}, {20s, 1}}, "web");
  read({{.key = "api", .value = 1, .taken = now.wall}});
  pass(10s);
  read({{.key = "web", .value = 1, .taken = now.wall}});
  EXPECT_EQ(metrics.over("rps", "web", Metrics::Over::kAverage, 1min, now.mono).first, 1);
}

// A bug: the first sample after an outage was the average of the whole time.
TEST_F(MetricsTest, AnAverageIsUnknownAfterAnOutageUntilSamplesCoverItsTimeAgain) {
  configure(rps(), 5min);
  for (int n = 0; n < 40; ++n, pass(10s)) read(100);
  EXPECT_EQ(average(5min), 100);
  for (int n = 0; n < 30; ++n, pass(10s)) fail("HTTP 500");
  read(4);
  EXPECT_FALSE(average(5min));
  EXPECT_FALSE(metrics.over("rps", {}, Metrics::Over::kLargest, 5min, now.mono).first);
  EXPECT_THAT(metrics.over("rps", {}, Metrics::Over::kAverage, 5min, now.mono).second,
              HasSubstr("for more than three intervals within the last 5m"));
  EXPECT_EQ(average(10s), 4) << "a shorter one is covered";
  for (int n = 0; n < 28; ++n) {
    pass(10s);
    read(4);
    EXPECT_FALSE(average(5min)) << n;
  }
  pass(10s);
  read(4);
  EXPECT_EQ(average(5min), 4);
}

TEST_F(MetricsTest, TwoReadingsThatFailMakeNoGap) {
  configure(rps(), 1min);
  for (int n = 0; n < 7; ++n, pass(10s)) read(8);
  fail("HTTP 500");
  pass(10s);
  fail("HTTP 500");
  pass(10s + 20ms);
  read(8);
  EXPECT_EQ(average(1min), 8);
  pass(10s);
  for (int n = 0; n < 3; ++n, pass(10s)) fail("HTTP 500");
  read(8);
  EXPECT_FALSE(average(1min)) << "three do";
}

TEST_F(MetricsTest, ARestartWithinAnOutageHidesNoGap) {
  configure(rps(), 5min);
  std::vector<std::pair<Duration, double>> before;
  for (Duration age = 10min; age > 4min; age -= 10s) before.emplace_back(age, 100);
  was(before);
  read(4);
  EXPECT_FALSE(average(5min));
  pass(4min);
  EXPECT_FALSE(average(5min));
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

TEST(HistoryTest, ALongTimeIsCoveredByFewEntries) {
  HistoryBudget budget;
  History history;
  Mono at(1h);
  for (int n = 0; n < 50'000; ++n) history.add(at += 1s, n % 2, {12h, 10s, 1000}, budget);
  EXPECT_LE(history.size(), 1002);
  EXPECT_NEAR(history.average(at, 12h, 1min).value_or(-1), 0.5, 0.01);
  EXPECT_EQ(history.largest(at, 12h, 1min), 1);
  history.clear(budget);
}

TEST(HistoryTest, AGapIsKnownAlsoBetweenSamplesThatAreOneEntry) {
  HistoryBudget budget;
  History history;
  const History::Rules rules{12h, 10s, 12};
  Mono at(1h);
  const auto add_for = [&](Duration time) {
    for (const Mono until = at + time; at < until; at += 10s) history.add(at, 1, rules, budget);
  };
  add_for(13h);
  EXPECT_EQ(history.average(at, 12h, 10s), 1);
  at += 5min;
  add_for(1h);
  EXPECT_LE(history.size(), 15);
  EXPECT_FALSE(history.average(at, 12h, 10s));
  add_for(13h);
  EXPECT_EQ(history.average(at, 12h, 10s), 1);
  history.clear(budget);
}

TEST(HistoryTest, AllSeriesTogetherTakeNoMoreThanTheBudget) {
  HistoryBudget budget;
  for (std::size_t n = 0; n < HistoryBudget::kEntriesMax; ++n) budget.took();
  History history;
  const History::Rules rules{1h, 10s, 1000};
  history.add(Mono(1h), 1, rules, budget);
  EXPECT_EQ(history.size(), 0);
  budget.freed(1);
  history.add(Mono(1h), 1, rules, budget);
  history.add(Mono(2h), 1, rules, budget);
  EXPECT_EQ(history.size(), 1) << "the older one goes";
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
