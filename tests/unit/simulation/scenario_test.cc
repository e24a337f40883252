#include <gtest/gtest.h>

#include <string>

#include "core/simulation/read_scenario.h"

namespace hostler::simulation {
namespace {

std::string problem_of(const std::string& text) {
  const auto read = parse_scenario(text, "/folder");
  return read ? "accepted" : read.error().message;
}

TEST(ScenarioTest, ReadsEveryKey) {
  const auto read = parse_scenario(R"({
    "version": 1, "config": "site.json", "seed": 7, "lasts": "2h", // a comment
    "load": [
      {"user": "ann", "every": "10s", "from": "1m", "until": "30m", "fails": 0.5, "priority": 3,
       "runs": {"least": "1s", "most": "2s"}, "needs": {"vcpus": 4, "ram": "2GiB", "gpus": 1},
       "restartable": true, "types": ["small"], "zone": "a", "market": "spot"},
      {"swf": "t.swf", "vcpus_per_processor": 2, "ram": "3GiB", "restartable": false}],
    "clouds": {"west": {"create": "3s", "boot": {"mean": "1m"}, "destroy": "4s", "quota": 9,
      "stock": {"small": 2}, "prices": [{"at": "1h", "type": "small", "price_per_hour": 0.25}],
      "faults": {"creates_fail": 0.1, "answers_lost": 0.2, "calls_fail": 0.3, "boots_fail": 0.4,
                 "machines_lost_per_day": 2, "empty_lists": [{"from": "1m", "lasting": "2m"}]}}}
  })",
                                   "/folder");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->config, "/folder/site.json");
  EXPECT_EQ(read->seed, 7);
  EXPECT_EQ(read->lasts, 2h);
  ASSERT_EQ(read->arrivals.size(), 1);
  const Arrivals& jobs = read->arrivals[0];
  EXPECT_EQ(jobs.every, 10s);
  EXPECT_EQ(jobs.until, 30min);
  EXPECT_EQ(jobs.shape.needs.vcpus, 4);
  EXPECT_EQ(jobs.shape.constraints.market, model::Market::kSpot);
  ASSERT_EQ(read->traces.size(), 1);
  EXPECT_EQ(read->traces[0].file, "/folder/t.swf");
  const CloudModel& cloud = read->clouds.at("west");
  EXPECT_EQ(cloud.boot.mean, 1min);
  EXPECT_EQ(cloud.stock.at("small"), 2);
  EXPECT_EQ(cloud.prices.at(0).per_hour.value, 250'000);
  EXPECT_EQ(cloud.empty_lists.at(0).lasting, 2min);
}

TEST(ScenarioTest, JobsMayAskForAKindOfGpus) {
  const auto read = parse_scenario(
      R"({"version": 1, "load": [{"count": 1, "needs": {"gpus": {"count": 2, "kind": "a100"}}}]})",
      "/folder");
  ASSERT_TRUE(read) << read.error().message;
  const auto& shape = read->arrivals.at(0).shape;
  EXPECT_EQ(shape.needs.gpus, 2);
  EXPECT_EQ(shape.constraints.gpu, (model::GpuWish{.kind = "a100", .memory = 0}));
  const auto problem = problem_of(
      R"({"version": 1, "load": [{"count": 1, "needs": {"gpus": {"memory": "40GiB"}}}]})");
  EXPECT_NE(problem.find("load[0].needs.gpus.count: missing"), std::string::npos) << problem;
}

TEST(ScenarioTest, ErrorsNamePathValueAndWhatIsAllowed) {
  const std::string text =
      problem_of(R"({"version": 1, "load": [{"count": 1, "needs": {"vcpus": -1}}]})");
  EXPECT_NE(text.find("load[0].needs.vcpus"), std::string::npos) << text;
  EXPECT_NE(text.find("-1"), std::string::npos) << text;
  EXPECT_NE(text.find("1048576"), std::string::npos) << text;
}

TEST(ScenarioTest, ALoadOfTwoKindsAtOnceIsRefused) {
  EXPECT_NE(problem_of(R"({"version": 1, "load": [{"count": 1, "per_hour": 2}]})"), "accepted");
  EXPECT_NE(problem_of(R"({"version": 1, "load": [{}]})"), "accepted");
}

TEST(ScenarioTest, AnUntilBeforeItsFromIsRefused) {
  const std::string text =
      problem_of(R"({"version": 1, "load": [{"every": "1s", "from": "2h", "until": "1h"}]})");
  EXPECT_NE(text.find("load[0].until"), std::string::npos) << text;
}

TEST(ScenarioTest, AnUnknownKeyIsRefused) {
  const std::string text = problem_of(R"({"version": 1, "load": [], "clouds": {"w": {"bot": 1}}})");
  EXPECT_NE(text.find("clouds.w.bot"), std::string::npos) << text;
}

}  // namespace
}  // namespace hostler::simulation
