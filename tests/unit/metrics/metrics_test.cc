#include "core/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace hostler::metrics {
namespace {

using model::CloudErrorClass;
using model::CloudOp;
using model::InstanceState;
using model::WorkState;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ::testing::HasSubstr;
using ::testing::Not;

/// One of everything.
void use_all(Metrics& metrics) {
  metrics.set_instances({{"a", "small", InstanceState::kIdle, 2}});
  metrics.set_prices({{"a", {1'250'000}}});
  metrics.set_gates({{"a", CloudErrorClass::kQuota, 1}});
  metrics.set_work(model::WorkKind::kJob, WorkState::kQueued, 7);
  metrics.set_work(model::WorkKind::kLease, WorkState::kRunning, 2);
  metrics.gangs("let_go", 3);
  metrics.set_queue_age(90s);
  metrics.boot_ended("a", "small", BootOutcome::kReady);
  metrics.host_reached("a", Milestone::kFirstJob, 2s);
  metrics.driver_call("a", CloudOp::kCreate, CloudErrorClass::kQuota, 20ms);
  metrics.driver_call("a", CloudOp::kCreate, std::nullopt, 20ms);
  metrics.verification(model::VerifyMethod::kChallenge, VerifyOutcome::kProved);
  metrics.verification(std::nullopt, VerifyOutcome::kNotYet);
  metrics.loop_work(LoopWork::kHost, 50ms);
  metrics.store_commit(1ms, true);
}

TEST(MetricsTest, ShowsWhatItWasTold) {
  Metrics metrics;

  use_all(metrics);

  const std::string text = metrics.text();
  for (const char* const line : {
           R"(hostler_instances{set="a",state="idle",type="small"} 2)",
           R"(hostler_price_per_hour{set="a"} 1.25)",
           R"(hostler_gates_shut{class="quota",set="a"} 1)",
           R"(hostler_jobs{state="queued"} 7)",
           R"(hostler_jobs{state="running"} 0)",
           R"(hostler_leases{state="granted"} 2)",
           R"(hostler_leases{state="waiting"} 0)",
           R"(hostler_leases_ended_total{reason="wait_max"} 0)",
           R"(hostler_gangs_total{result="let_go"} 3)",
           R"(hostler_gangs_total{result="granted"} 0)",
           "hostler_queue_age_seconds 90",
           R"(hostler_boots_total{outcome="ready",set="a",type="small"} 1)",
           R"(hostler_boot_milestone_seconds_sum{milestone="first_job",set="a"} 2)",
           R"(hostler_driver_calls_total{operation="create",result="quota",set="a"} 1)",
           R"(hostler_driver_calls_total{operation="create",result="ok",set="a"} 1)",
           R"(hostler_driver_call_seconds_count{operation="create",set="a"} 2)",
           R"(hostler_host_verifications_total{method="challenge",outcome="proved"} 1)",
           R"(hostler_host_verifications_total{method="none",outcome="not_yet"} 1)",
           R"(hostler_loop_event_seconds_bucket{kind="host",le="0.1"} 1)",
           R"(hostler_loop_event_seconds_bucket{kind="host",le="0.01"} 0)",
           R"(hostler_store_commit_seconds_count{result="ok"} 1)",
       })
    EXPECT_THAT(text, HasSubstr(std::string(line) + "\n"));
}

TEST(MetricsTest, ForgetsStatesThatNoInstanceIsIn) {
  Metrics metrics;
  metrics.set_instances({{"a", "small", InstanceState::kBooting, 3}});

  metrics.set_instances({{"a", "small", InstanceState::kBusy, 3}});

  EXPECT_THAT(metrics.text(), Not(HasSubstr("booting")));
  EXPECT_THAT(metrics.text(), HasSubstr(R"({set="a",state="busy",type="small"} 3)"));
}

TEST(MetricsTest, AddsUpCountsOfTheSameSeries) {
  Metrics metrics;

  metrics.set_prices({{"a", {500'000}}, {"a", {250'000}}});

  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_price_per_hour{set="a"} 0.75)"));
}

TEST(MetricsTest, AddsUpTheCardsOfAPoolByState) {
  Metrics metrics;
  metrics.set_hosts({}, {{"gpus", model::CardState::kBad, 1}, {"gpus", model::CardState::kBad, 2}});
  EXPECT_THAT(metrics.text(), HasSubstr(R"(hostler_cards{pool="gpus",state="bad"} 3)"));
  metrics.set_hosts({});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("hostler_cards{")));
}

TEST(MetricsTest, GivesTheSameTextWhateverTheOrder) {
  Metrics one;
  Metrics other;
  for (const char* const set : {"a", "b", "c", "d"}) one.boot_ended(set, "t", BootOutcome::kReady);
  for (const char* const set : {"d", "b", "c", "a"})
    other.boot_ended(set, "t", BootOutcome::kReady);

  // The process's own families, last in the text, change by themselves.
  const auto counted = [](const std::string& text) {
    return text.substr(0, text.find("# HELP process_"));
  };
  EXPECT_EQ(counted(one.text()), counted(other.text()));
}

// F-W14.
TEST(MetricsTest, ShowsBoundsAndTheMetricsThatTheyUse) {
  Metrics metrics;
  metrics::PoolStatus web{.pool = "web", .instances = 2, .instances_max = 9};
  web.bounds = {{.name = "min", .number = 3, .is_known = false}, {.name = "max", .number = 9}};
  model::MetricStatus rps{.name = "rps", .known = true, .age = 2s, .readings = {{"ok", 3}}};
  metrics.set_pools({web}, {rps});
  rps.readings = {{"ok", 4}, {"nan", 1}};
  metrics.set_pools({web}, {rps});
  for (const char* const line :
       {R"(hostler_pool_bound{bound="min",pool="web"} 3)",
        R"(hostler_pool_bound_known{bound="min",pool="web"} 0)",
        R"(hostler_metric_known{metric="rps"} 1)", R"(hostler_metric_age_seconds{metric="rps"} 2)",
        R"(hostler_metric_readings_total{metric="rps",outcome="ok"} 4)",
        R"(hostler_metric_readings_total{metric="rps",outcome="nan"} 1)"})
    EXPECT_THAT(metrics.text(), HasSubstr(line));
  EXPECT_THAT(metrics.text(), Not(HasSubstr(R"(hostler_pool_bound_known{bound="max")")));
}

TEST(MetricsTest, KeepsLabelsOfAnyBytesInOneLine) {
  Metrics metrics;

  metrics.boot_ended("a\"b\\c\nd", "t", BootOutcome::kReady);

  EXPECT_THAT(metrics.text(), HasSubstr(R"(set="a\"b\\c\nd")"));
}

TEST(MetricsTest, CountsFromManyThreadsWhileBeingRead) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) {
          metrics.driver_call("a", CloudOp::kList, std::nullopt, 1ms);
          metrics.set_instances({{"a", "t", i % 2 ? InstanceState::kIdle : InstanceState::kBusy,
                                  static_cast<std::size_t>(i)}});
          if (i % 50 == 0) {
            EXPECT_FALSE(metrics.text().empty());
          }
        }
      });
  }

  EXPECT_THAT(
      metrics.text(),
      HasSubstr(R"(hostler_driver_calls_total{operation="list",result="ok",set="a"} 1000)"));
}

TEST(MetricsTest, PassesPromtoolsCheck) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  Metrics metrics;
  use_all(metrics);

  std::FILE* const promtool = ::popen("promtool check metrics 2>&1", "we");
  ASSERT_NE(promtool, nullptr);
  std::fputs(metrics.text().c_str(), promtool);

  EXPECT_EQ(::pclose(promtool), 0);
}

}  // namespace
}  // namespace hostler::metrics
