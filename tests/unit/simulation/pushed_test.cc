#include <gmock/gmock.h>

#include "core/simulation/read_scenario.h"
#include "core/simulation/simulation.h"

namespace hostler::simulation {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<Scenario> scenario_with_pushes(const std::string& pushed) {
  return parse_scenario(R"({"version": 1, "load": [], "lasts": "8h", "pushed": )" + pushed + "}",
                        "/folder");
}
std::string pushed_problem(const std::string& pushed) {
  const auto read = scenario_with_pushes(pushed);
  return read ? "accepted" : read.error().message;
}

TEST(ScenarioPushedTest, ReadsEveryKey) {
  const auto read = scenario_with_pushes(
      R"([{"pool": "gpu", "interval": "2s", "group_max": {"g": 8}, "spare": [2, 1],
      "tasks": [{"slots": 4, "group": "g", "runs": {"mean": "5m"}, "from": "1h", "until": "2h",
                 "per_hour": 30}, {"count": 3}, {"slots": 0, "every": "10m"}]}])");
  ASSERT_TRUE(read) << read.error().message;
  const PushedLoad& load = read->pushed.at(0);
  EXPECT_EQ(load.pool, "gpu");
  EXPECT_EQ(load.interval, 2s);
  EXPECT_EQ(load.group_max.at("g"), 8);
  EXPECT_THAT(load.spare, testing::ElementsAre(2, 1));
  ASSERT_EQ(load.tasks.size(), 3U);
  EXPECT_EQ(load.tasks[0].user, "g");
  EXPECT_EQ(load.tasks[0].shape.needs.slots, 4);
  EXPECT_EQ(load.tasks[0].runs.mean, 5min);
  EXPECT_EQ(load.tasks[0].from, 1h);
  EXPECT_EQ(load.tasks[0].until, 2h);
  EXPECT_EQ(load.tasks[0].per_hour, 30);
  EXPECT_EQ(load.tasks[1].shape.needs.slots, 1) << "by default";
  EXPECT_EQ(load.tasks[1].user, "");
  EXPECT_EQ(load.tasks[1].count, 3U);
  EXPECT_EQ(load.tasks[1].until, 8h) << "to the end";
  EXPECT_EQ(load.tasks[2].shape.needs.slots, 0);
  EXPECT_EQ(scenario_with_pushes(R"([{"pool": "p", "tasks": []}])")->pushed[0].interval, 5s);
}

TEST(ScenarioPushedTest, RefusesWhatIsNoSchedulerAndNamesThePlace) {
  const auto task = [](const std::string& members) {
    return pushed_problem(R"([{"pool": "p", "tasks": [{"count": 1, )" + members + "}]}]");
  };
  EXPECT_THAT(task(R"("slots": -1)"), HasSubstr("pushed[0].tasks[0].slots"));
  EXPECT_THAT(task(R"("slots": 1000001)"), HasSubstr("pushed[0].tasks[0].slots"));
  EXPECT_THAT(task(R"("group": "")"), HasSubstr("pushed[0].tasks[0].group"));
  EXPECT_THAT(task(R"("runs": 5)"), HasSubstr("pushed[0].tasks[0].runs"));
  EXPECT_THAT(task(R"("every": "1s")"), HasSubstr("pushed[0].tasks[0]"));
  EXPECT_THAT(task(R"("needs": {})"), HasSubstr("pushed[0].tasks[0].needs: unknown key"));
  EXPECT_THAT(pushed_problem("{}"), HasSubstr("pushed: found"));
  EXPECT_THAT(pushed_problem(R"([{"tasks": []}])"), HasSubstr("pushed[0].pool: missing"));
  EXPECT_THAT(pushed_problem(R"([{"pool": "p"}])"), HasSubstr("pushed[0].tasks: missing"));
  EXPECT_THAT(pushed_problem(R"([{"pool": "p", "tasks": [], "interval": "0s"}])"),
              HasSubstr("pushed[0].interval"));
  EXPECT_THAT(pushed_problem(R"([{"pool": "p", "tasks": [], "group_max": {"g": -1}}])"),
              HasSubstr("pushed[0].group_max.g"));
  EXPECT_THAT(pushed_problem(R"([{"pool": "p", "tasks": [], "spare": [0]}])"),
              HasSubstr("pushed[0].spare[0]"));
  EXPECT_THAT(pushed_problem(R"([{"pool": "p", "tasks": []}, {"pool": "p", "tasks": []}])"),
              HasSubstr("pushed[1]: found a second scheduler of pool \"p\""));
}

TEST(ScenarioPushedTest, ThePoolIsOneThatTakesPushes) {
  model::SitePolicy policy;
  policy.pools.emplace_back().name = "gpu";
  const auto problem = [&](const std::string& pool) {
    const auto fits = check_against(
        *scenario_with_pushes(R"([{"pool": ")" + pool + R"(", "tasks": []}])"), policy);
    return fits ? std::string("accepted") : fits.error().message;
  };
  EXPECT_THAT(problem("nope"), HasSubstr("pushed[].pool: found \"nope\""));
  EXPECT_THAT(problem("gpu"), HasSubstr("the pool \"gpu\" of the config takes no pushes"));
  policy.pools[0].pushed.emplace();
  EXPECT_EQ(problem("gpu"), "accepted");
}

TEST(PushedReportTest, TasksAreShownWhereSomethingWasPushed) {
  Named one{"a", {}};
  EXPECT_THAT(to_text({one}, ""), Not(HasSubstr("tasks")));
  EXPECT_THAT(to_json({one}, ""), Not(HasSubstr("tasks")));
  one.report.tasks.pushes = 3;
  one.report.tasks.has_waits = true;
  one.report.tasks.wait_mean = 90s;
  one.report.tasks.refusal = "superseded";
  EXPECT_THAT(to_text({one}, ""), HasSubstr("tasks' wait, mean"));
  EXPECT_THAT(to_text({one}, ""), HasSubstr("a: the first refusal of a push: superseded"));
  EXPECT_THAT(to_json({one}, ""), HasSubstr(R"("wait_seconds":{"mean":90)"));
}

/// One set, one pool of hosts of 4 slots that an outside scheduler sizes.
struct SimulatedPushedTest : testing::Test {
  model::SitePolicy policy;
  Scenario scenario;

  SimulatedPushedTest() {
    policy.sets.resize(1);
    policy.sets[0].name = "west";
    model::InstanceType& type = policy.types.emplace_back();
    type.name = type.provider_type = "gpu-4";
    type.resources = {
        .vcpus = 8, .gpus = 4, .ram = std::int64_t{32} << 30, .scratch = 0, .slots = 4};
    type.price_per_hour = {4'000'000};
    model::PoolPolicy& pool = policy.pools.emplace_back();
    pool.name = "gpu";
    pool.sets = {"west"};
    pool.types = {"gpu-4"};
    pool.sizes.max = 10;
    pool.readiness = model::Readiness::kSsh;
    pool.idle_timeout = 5min;
    pool.pushed.emplace();
    scenario.lasts = 6h;
    scenario.pushed.push_back({.pool = "gpu", .group_max = {}, .tasks = {}});
    Arrivals& tasks = scenario.pushed[0].tasks.emplace_back();
    tasks.shape.needs = {.vcpus = 0, .gpus = 0, .ram = 0, .scratch = 0, .slots = 2};
    tasks.runs = {.least = 10min, .most = 10min};
    tasks.user.clear();
    tasks.count = 8;
  }
  Report run() {
    EXPECT_TRUE(check_against(scenario, policy));
    auto report = simulate(scenario, policy);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : Report{};
  }
};

// The weakness 5.3.2: no host in use is ended.
TEST_F(SimulatedPushedTest, W2_HostsComeForTasksAndGoWhenNothingRunsThere) {
  const Report report = run();
  EXPECT_EQ(report.tasks.arrived, 8U);
  EXPECT_EQ(report.tasks.ended, 8U);
  EXPECT_EQ(report.tasks.started_again, 0U);
  EXPECT_EQ(report.tasks.pushes_refused, 0U) << report.tasks.refusal;
  EXPECT_EQ(report.hosts, 4U) << "two tasks on each";
  EXPECT_LT(report.tasks.wait_most, 2min);
  EXPECT_NEAR(report.host_hours, 4 * 16.0 / 60, 0.3) << "ten minutes of work, and five idle";
}

TEST_F(SimulatedPushedTest, AHostThatIsNeededAgainWithinItsIdleTimeIsUsedAgain) {
  Arrivals& tasks = scenario.pushed[0].tasks[0];
  tasks.count = 0;
  tasks.every = 12min;
  tasks.until = 2h;
  const Report report = run();
  EXPECT_EQ(report.tasks.ended, 10U);
  EXPECT_EQ(report.hosts, 1U);
}

}  // namespace
}  // namespace hostler::simulation
