#include "core/simulation/simulation.h"

#include <gtest/gtest.h>

#include <string>

namespace hostler::simulation {
namespace {

/// One set, hosts of 2 and 8 vcpus, and jobs of a minute for two hours.
struct SimulationTest : testing::Test {
  model::SitePolicy policy;
  Scenario scenario;

  SimulationTest() {
    policy.sets.resize(1);
    policy.sets[0].name = "west";
    policy.types = {type("small", 2, 100'000), type("large", 8, 400'000)};
    model::PoolPolicy pool;
    pool.name = "default";
    pool.sets = {"west"};
    pool.types = {"small", "large"};
    pool.sizes.max = 20;
    policy.pools = {pool};
    scenario.lasts = 4h;
    Arrivals jobs{.until = 2h, .per_hour = 300};
    jobs.shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1 << 20, .scratch = 0};
    jobs.shape.restartable = true;
    jobs.shape.attempts_max = 100;
    scenario.arrivals = {jobs};
  }
  static model::InstanceType type(const std::string& name, std::int32_t vcpus, std::int64_t price) {
    model::InstanceType out;
    out.name = out.provider_type = name;
    out.resources = {.vcpus = vcpus, .gpus = 0, .ram = std::int64_t{vcpus} << 30, .scratch = 0};
    out.price_per_hour = {price};
    return out;
  }
  CloudModel& west() { return scenario.clouds["west"]; }
  Report run(const Limits& limits = {}) {
    auto report = simulate(scenario, policy, limits);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : Report{};
  }
  static void expect_all_ended(const Report& report) {
    EXPECT_GT(report.submitted, 400);
    EXPECT_EQ(report.succeeded, report.submitted);
    EXPECT_EQ(report.waiting, 0);
    EXPECT_EQ(report.running, 0);
  }
};

// Bug: a host that ran kept the price of its create, where lists do not say what it costs.
TEST_F(SimulationTest, AMinimumWhosePriceRisesIsExchanged) {
  policy.types = {type("a", 2, 100'000), type("b", 2, 100'000)};
  policy.pools[0].types = {"a", "b"};
  policy.pools[0].sizes.min = 1;
  scenario.lasts = 24h;
  scenario.arrivals = {Arrivals{.count = 1}};
  west().prices = {{1h, "a", {1'000'000}}};
  const Report report = run();
  EXPECT_GT(report.cost, 2.3);
  EXPECT_LT(report.cost, 3.5) << "and not 23";
}

TEST_F(SimulationTest, AMinimumWhosePriceRisesAboveTheCapEnds) {
  policy.pools[0].types = {"small"};
  policy.pools[0].sizes.min = 1;
  policy.pools[0].price_cap_per_hour = {500'000};
  scenario.lasts = 24h;
  scenario.arrivals = {Arrivals{.count = 1}};
  west().prices = {{1h, "small", {1'000'000}}};
  EXPECT_LT(run().cost, 0.5);
}

TEST_F(SimulationTest, AllJobsEndAndHostsArePaidForTheirTime) {
  const Report report = run();
  expect_all_ended(report);
  EXPECT_GE(report.host_hours, 2);
  EXPECT_GE(report.cost, report.host_hours * 0.1 * 0.999);
  EXPECT_LE(report.cost, report.host_hours * 0.4);
  EXPECT_LE(report.vcpu_hours_used, report.vcpu_hours_bought);
  EXPECT_GE(report.wait_most, report.wait_p95);
  EXPECT_LE(report.samples.size(), kSamplesMax);
}

TEST_F(SimulationTest, EqualArgumentsGiveEqualReports) {
  west().boots_fail = west().creates_fail = 0.1;
  EXPECT_EQ(to_json({{"a", run()}}, ""), to_json({{"a", run()}}, ""));
  const std::string first = to_json({{"a", run()}}, "");
  scenario.seed = 2;
  EXPECT_NE(to_json({{"a", run()}}, ""), first);
}

TEST_F(SimulationTest, LongerBootsMakeLongerWaits) {
  const Report quick = run();
  west().boot = {.least = 10min, .most = 10min};
  policy.pools[0].boot_timeout = 20min;
  EXPECT_GT(run().wait_most, quick.wait_most + 5min);
}

TEST_F(SimulationTest, JobsEndInSpiteOfEveryFault) {
  west().creates_fail = west().answers_lost = west().calls_fail = west().boots_fail = 0.1;
  west().machines_lost_per_day = 48;
  west().empty_lists = {{.from = 30min, .lasting = 5min}};
  scenario.lasts = 24h;
  const Report report = run();
  expect_all_ended(report);
  EXPECT_GT(report.started_again, 0);
  EXPECT_GT(report.gates, 0);
}

TEST_F(SimulationTest, QuotaAndStockOfTheCloudHold) {
  west().quota = 3;
  EXPECT_LE(run().hosts_at_once, 3 + 1);  // One more is asked for before the quota is known.
  west().quota = 0;
  west().stock = {{"small", 0}, {"large", 0}};
  const Report none = run();
  EXPECT_EQ(none.succeeded, 0);
  EXPECT_EQ(none.cost, 0);
  EXPECT_EQ(static_cast<std::uint64_t>(none.waiting), none.submitted);
}

TEST_F(SimulationTest, ARaisedPriceIsPaidFromItsTimeOn) {
  policy.types = {type("small", 2, 100'000)};
  policy.pools[0].types = {"small"};
  policy.pools[0].sizes.min = policy.pools[0].sizes.max = 1;
  scenario.arrivals.clear();
  west().prices = {{.at = 2h, .type = "small", .per_hour = {1'000'000}}};
  EXPECT_NEAR(run().cost, 2 * 0.1 + 2 * 1, 0.02);
}

// Bug: lists said no prices, so the dear host was kept.
TEST_F(SimulationTest, AHostWhosePriceRoseIsExchanged) {
  policy.types = {type("a", 2, 100'000), type("b", 2, 100'000)};
  policy.pools[0].types = {"a", "b"};
  policy.pools[0].sizes.min = 1;
  scenario.arrivals.clear();
  west().prices = {{.at = 2h, .type = "a", .per_hour = {1'000'000}}};
  const Report report = run();
  EXPECT_EQ(report.hosts, 2U);
  EXPECT_NEAR(report.cost, 4 * 0.1, 0.1);
}

// Bug: it ended with the next plan, up to ten seconds later.
TEST_F(SimulationTest, APatienceEndsOnTime) {
  policy.types = {type("steady", 2, 200'000), type("spot", 2, 100'000)};
  policy.types[1].market = model::Market::kSpot;
  policy.pools[0].types = {"steady", "spot"};
  scenario.arrivals[0].per_hour = 0;
  scenario.arrivals[0].count = 1;
  west().stock = {{"spot", 0}};
  policy.pools[0].spot_shortage_patience = 10s;
  const Duration ten = run().wait_most;
  for (const Duration more : {3s, 6s, 17s}) {
    policy.pools[0].spot_shortage_patience = 10s + more;
    const Duration late = run().wait_most - ten - more;
    EXPECT_LE(std::chrono::abs(late), 1s) << late.count();
  }
}

TEST_F(SimulationTest, JobsThatFailAreCounted) {
  scenario.arrivals[0].fails = 1;
  const Report report = run();
  EXPECT_EQ(report.failed, report.submitted);
}

TEST_F(SimulationTest, JobsThatNoHostCanHoldAreRefused) {
  scenario.arrivals[0].shape.needs.vcpus = 100;
  const Report report = run();
  EXPECT_EQ(report.submitted, 0);
  EXPECT_GT(report.refused, 0);
  EXPECT_NE(report.refusal.find("vcpus"), std::string::npos) << report.refusal;
}

TEST_F(SimulationTest, TheLimitsAreTold) {
  EXPECT_TRUE(run({.events = 1000}).reached_limit);
  const auto beyond = [&](const Limits& limits) {
    const auto report = simulate(scenario, policy, limits);
    return report ? "ended" : report.error().message;
  };
  EXPECT_NE(beyond({.jobs = 100}).find("more than 100 jobs have arrived"), std::string::npos);
  policy.pools[0].sizes.max = 0;
  EXPECT_NE(beyond({.jobs_waiting = 50}).find("more than 50 jobs wait"), std::string::npos);
}

}  // namespace
}  // namespace hostler::simulation
