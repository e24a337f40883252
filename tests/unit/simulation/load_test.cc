#include "core/simulation/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hostler::simulation {
namespace {

/// A trace in a folder of its own, which goes with it.
class TraceFile {
 public:
  explicit TraceFile(const std::string& text) {
    char name[] = "/tmp/hostler-swf-XXXXXX";
    folder_ = ::mkdtemp(name);
    std::ofstream(file()) << text;
  }
  ~TraceFile() { std::filesystem::remove_all(folder_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "t.swf"; }
  [[nodiscard]] Scenario scenario() const {
    Scenario out;
    out.lasts = 24h * 30;
    out.traces = {{.file = file()}};
    return out;
  }

 private:
  std::filesystem::path folder_;
};

/// All jobs, or the error.
Result<std::vector<Job>> read_all(const Scenario& scenario) {
  Load load = HOSTLER_TRY(Load::open(scenario));
  std::vector<Job> out;
  while (auto job = HOSTLER_TRY(load.next())) out.push_back(std::move(*job));
  return out;
}

std::string trace_problem(const std::string& trace) {
  const TraceFile file(trace);
  const auto read = read_all(file.scenario());
  return read ? "accepted" : read.error().message;
}

TEST(LoadTest, JobsOfAllPartsComeInTheOrderOfTheirTimes) {
  Scenario scenario;
  scenario.lasts = 1h;
  Arrivals regular{.user = "ann", .until = 1h, .every = 7min};
  Arrivals random{.user = "bob", .until = 1h, .per_hour = 100};
  Arrivals burst{.user = "eve", .from = 30min, .until = 1h, .count = 5};
  scenario.arrivals = {regular, random, burst};
  const auto jobs = read_all(scenario);
  ASSERT_TRUE(jobs);
  std::map<std::string, int> of;
  Duration last{};
  for (const Job& job : *jobs) {
    EXPECT_GE(job.at, last);
    EXPECT_LT(job.at, scenario.lasts);
    last = job.at;
    ++of[job.user];
  }
  EXPECT_EQ(of["ann"], 9);
  EXPECT_GT(of["bob"], 60);
  EXPECT_LT(of["bob"], 140);
  EXPECT_EQ(of["eve"], 5);
}

TEST(LoadTest, DurationsStayWithinTheirSpread) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Duration uniform = pick({.least = 2s, .most = 5s}, random);
    EXPECT_GE(uniform, 2s);
    EXPECT_LE(uniform, 5s);
    EXPECT_LE(pick({.mean = 1min}, random), 10min);
  }
  EXPECT_EQ(pick({.least = 3s, .most = 3s}, random), 3s);
}

TEST(LoadTest, ATraceGivesProcessorsMemoryAndUser) {
  const TraceFile file(
      "; Version: 2.2\n\n"
      " 1 5 -1 60 2 -1 1024 4 -1 2048 1 17 -1 -1 -1 -1 -1 -1\r\n"
      "2 9 -1 60.5 2 -1 1024 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "3 9 -1 -1 2 -1 -1 2 -1 -1 5 1 -1 -1 -1 -1 -1 -1\n");
  Load load = *Load::open(file.scenario());
  const Job asked = **load.next(), used = **load.next();
  EXPECT_FALSE(*load.next());
  EXPECT_EQ(load.skipped(), 1);
  EXPECT_EQ(asked.at, 0s) << "the first one";
  EXPECT_EQ(used.at, 4s);
  EXPECT_EQ(asked.runs, 60s);
  EXPECT_EQ(asked.user, "user-17");
  EXPECT_EQ(asked.shape.needs.vcpus, 4);
  EXPECT_EQ(asked.shape.needs.ram, 4 * 2048 * 1024);
  EXPECT_EQ(used.shape.needs.vcpus, 2);
  EXPECT_EQ(used.shape.needs.ram, 2 * 1024 * 1024);
}

// Bug: no job of a trace with the time of day arrived.
TEST(LoadTest, ATraceBeginsWithItsFirstJobWhateverItsTimeIs) {
  const TraceFile file(
      "1 1641021254 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
      "2 1641021264.5 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
  const auto jobs = read_all(file.scenario());
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].at, 0s);
  EXPECT_EQ((*jobs)[1].at, 10500ms);
}

TEST(LoadTest, OnlyJobsThatAreCountedTogetherShareASubmit) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.arrivals = {
      {.until = 1h, .count = 3}, {.until = 1h, .count = 2}, {.until = 1h, .every = 30min}};
  const TraceFile file(
      "1 0 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
      "2 0 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
  scenario.traces = file.scenario().traces;
  const auto jobs = read_all(scenario);
  ASSERT_TRUE(jobs);
  std::vector<bool> joins;
  for (const Job& job : *jobs) joins.push_back(job.joins);
  EXPECT_EQ(joins, (std::vector{false, true, true, false, true, false, false, false, false}));
}

TEST(LoadTest, ATraceThatIsWrongIsRefusedWithItsLine) {
  const std::string good = "1 5 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(trace_problem(good), "accepted");
  for (const char* bad : {"1 2 3\n", "x 5 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n",
                          "1 5 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 nan\n",
                          "1 1e300 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n",
                          "1 4 -1 60 2 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n",
                          "1 5 -1 60 2 -1 -1 99999999 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"})
    EXPECT_NE(trace_problem(good + bad).find("t.swf, line 2: field "), std::string::npos)
        << bad << trace_problem(good + bad);
  EXPECT_NE(trace_problem(good + std::string(100'000, '1')).find("line 2: has more than"),
            std::string::npos);
  EXPECT_NE(trace_problem(std::string("\0\0\0", 3)).find("line 1"), std::string::npos);
}

TEST(LoadTest, ATraceThatIsNoFileIsRefused) {
  Scenario scenario;
  for (const char* path : {"/nowhere/t.swf", "/tmp", "/dev/zero"}) {
    scenario.traces = {{.file = path}};
    const auto load = Load::open(scenario);
    ASSERT_FALSE(load) << path;
    EXPECT_NE(load.error().message.find(path), std::string::npos);
  }
}

}  // namespace
}  // namespace hostler::simulation
