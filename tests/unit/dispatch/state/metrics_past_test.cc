#include <gmock/gmock.h>

#include "tests/unit/dispatch/state/metrics_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace hostler::dispatch
