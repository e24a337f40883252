#include <gmock/gmock.h>

#include "core/simulation/metric_feed.h"
#include "core/simulation/read_scenario.h"
#include "core/simulation/simulation.h"

namespace hostler::simulation {
namespace {

using testing::HasSubstr;

Result<Scenario> scenario_with(const std::string& metrics) {
  return parse_scenario(R"({"version": 1, "load": [], "metrics": )" + metrics + "}", "/folder");
}
std::string metrics_problem(const std::string& metrics) {
  const auto read = scenario_with(metrics);
  return read ? "accepted" : read.error().message;
}

TEST(ScenarioMetricsTest, ASeriesIsStepsInTime) {
  const auto read = scenario_with(
      R"({"a": [["0s", 1], ["10m", null], ["1h", 2.5]], "b": {"every": "1m", "values": [3, null]},
          "c": {"by": {"web": [["5s", 4]], "db": {"every": "1s", "values": [5]}}}})");
  ASSERT_TRUE(read) << read.error().message;
  const auto value = [&](const std::string& metric, Duration at) {
    return reading_at({.name = metric, .valid_min = {}, .valid_max = {}, .max_step = {}, .by = {}},
                      read->metrics.at(metric), at, Wall{1});
  };
  EXPECT_EQ(value("a", 9min).samples, (std::vector<model::MetricSample>{{"", 1, Wall{1}}}));
  EXPECT_TRUE(value("a", 10min).samples.empty());
  EXPECT_THAT(value("a", 10min).failure, HasSubstr("no value"));
  EXPECT_EQ(value("a", 100h).samples.at(0).value, 2.5) << "the last one holds";
  EXPECT_EQ(value("b", 59s).samples.at(0).value, 3);
  EXPECT_TRUE(value("b", 1min).samples.empty());
  EXPECT_EQ(value("c", 1s).samples, (std::vector<model::MetricSample>{{"db", 5, Wall{1}}}));
  EXPECT_EQ(value("c", 5s).samples.size(), 2U);
}

TEST(ScenarioMetricsTest, RefusesWhatIsNoSeries) {
  for (const std::string bad :
       {"[]", "{}", "7", "\"x\"", R"([["1s"]])", R"([[1, 2]])", R"([["1s", "2"]])",
        R"([["1s", 1], ["1s", 2]])", R"([["2s", 1], ["1s", 2]])", R"([["-1s", 1]])",
        R"([["1s", 1e16]])", R"({"every": "0s", "values": [1]})", R"({"every": "1s"})",
        R"({"every": "1s", "values": [true]})", R"({"by": 1})", R"({"by": {"k": 3}})",
        R"({"every": "1s", "values": [1], "more": 1})"})
    EXPECT_THAT(metrics_problem("{\"m\": " + bad + "}"), HasSubstr("metrics.m")) << bad;
  EXPECT_THAT(metrics_problem("[]"), HasSubstr("metrics"));
}

TEST(ScenarioMetricsTest, TheTimeOfTheStartIsGiven) {
  const auto starts = [](const std::string& text) {
    return parse_scenario(R"({"version": 1, "load": [], "starts": )" + text + "}", "/");
  };
  EXPECT_EQ(starts("\"1970-01-01T00:00:01Z\"")->starts, Wall{1'000'000});
  EXPECT_EQ(parse_scenario(R"({"version": 1, "load": []})", "/")->starts, Scenario{}.starts);
  for (const std::string bad : {"\"monday\"", "1", "\"2026-02-30T00:00:00Z\""})
    EXPECT_FALSE(starts(bad)) << bad;
}

/// One set, one pool of which the minimum is an expression.
struct SimulatedMetricsTest : testing::Test {
  model::SitePolicy policy;
  Scenario scenario;

  SimulatedMetricsTest() {
    policy.sets.resize(1);
    policy.sets[0].name = "west";
    model::InstanceType& type = policy.types.emplace_back();
    type.name = type.provider_type = "small";
    type.resources = {.vcpus = 2, .gpus = 0, .ram = std::int64_t{2} << 30, .scratch = 0};
    type.price_per_hour = {1'000'000};
    model::PoolPolicy& pool = policy.pools.emplace_back();
    pool.name = "web";
    pool.sets = {"west"};
    pool.types = {"small"};
    pool.ceilings.instances_max = 10;
    pool.sizes.texts.min = "hosts";
    policy.metrics.emplace_back().name = "hosts";
    scenario.lasts = 3h;
  }
  Report run() {
    EXPECT_TRUE(check_against(scenario, policy));
    auto report = simulate(scenario, policy);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : Report{};
  }
};

TEST_F(SimulatedMetricsTest, APoolFollowsItsMetric) {
  scenario.metrics["hosts"][""] = {{0s, 1}, {1h, 4}, {2h, 0}};
  const Report report = run();
  EXPECT_EQ(report.hosts_at_once, 4);
  // An hour of one, an hour of four, and five minutes more until the window of `down` is over.
  EXPECT_NEAR(report.host_hours, 1 + 4 + 4 * 5.0 / 60, 0.5);
}

// F-W5: a source that does not answer keeps what there is.
TEST_F(SimulatedMetricsTest, AMetricThatDoesNotAnswerEndsNoHost) {
  scenario.metrics["hosts"][""] = {{0s, 3}, {1h, std::nullopt}};
  EXPECT_NEAR(run().host_hours, 3 * 3, 0.1);
}

TEST_F(SimulatedMetricsTest, AScheduleFollowsTheClockOfTheScenario) {
  policy.metrics.clear();
  policy.pools[0].sizes.texts.min = "hour(\"UTC\") in 9..10 ? 2 : 0";
  scenario.starts = Wall{8LL * 3600 * 1'000'000};
  scenario.lasts = 5h;
  EXPECT_NEAR(run().host_hours, 2 * 2 + 2 * 5.0 / 60, 0.3);
}

TEST_F(SimulatedMetricsTest, AMetricOfTheConfigurationNeedsASeriesOfItsKind) {
  const auto problem = [&] {
    const auto fits = check_against(scenario, policy);
    return fits ? std::string("accepted") : fits.error().message;
  };
  EXPECT_THAT(problem(), HasSubstr("metrics: the config has \"hosts\""));
  scenario.metrics["hosts"]["web"] = {{0s, 1}};
  EXPECT_THAT(problem(), HasSubstr("metrics.hosts: it is one number"));
  policy.metrics[0].by = "pool";
  EXPECT_EQ(problem(), "accepted");
  scenario.metrics["hosts"] = {{"", {{0s, 1}}}};
  EXPECT_THAT(problem(), HasSubstr("metrics.hosts: its values stand in `by`"));
  policy.metrics[0].own = model::OwnCount{};
  scenario.metrics.clear();
  EXPECT_EQ(problem(), "accepted") << "it is counted in the simulation";
}

}  // namespace
}  // namespace hostler::simulation
