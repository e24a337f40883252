#include "core/daemon/metric_inputs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "tests/temp_folder.h"

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

/// A daemon whose one metric is a file, and starts again and again.
class MetricInputsTest : public testing::Test {
 protected:
  MetricInputsTest() {
    model::MetricPolicy policy;
    policy.name = "depth";
    policy.interval = 1h;
    config.site.metrics.push_back(policy);
    model::MetricSource source;
    source.name = "depth";
    source.kind = model::MetricSource::Kind::kFile;
    source.file = folder / "depth";
    source.interval = source.timeout = 1h;
    config.metric_sources.push_back(source);
    config.site.pools.emplace_back();
    std::ofstream(folder / "depth") << 7;
  }
  void ask_for_the_past() { config.site.pools[0].sizes.texts.min = "avg_over(depth, \"1h\")"; }
  /// What a daemon reads of the past, which lives until it has read the metric once.
  std::vector<model::MetricSample> start() {
    std::vector<model::MetricSample> past;
    Mutex mutex;
    Condition come;
    bool is_read = false;
    MetricInputs inputs(folder.path(), "us", [&](const dispatch::Event& event) {
      const MutexLock lock(mutex);
      if (const auto* read = std::get_if<dispatch::PastRead>(&event); read && !read->past.empty())
        past = read->past.at(0).samples;
      is_read |= std::holds_alternative<dispatch::MetricsRead>(event);
      come.notify_all();
    });
    inputs.begin(config);
    const MutexLock lock(mutex);
    come.wait(mutex, [&] { return is_read; });
    return past;
  }

  test::TempFolder folder;
  config::Config config;
};

// A bug: a start that asked for no past wrote over it from its begin.
TEST_F(MetricInputsTest, AStartThatAsksForNoPastWritesOverNone) {
  EXPECT_TRUE(start().empty());
  EXPECT_TRUE(start().empty());
  ask_for_the_past();
  EXPECT_EQ(start().size(), 2U);
  EXPECT_EQ(start().size(), 3U);
}

TEST_F(MetricInputsTest, ThePastHasTheTimesOfReadings) {
  ask_for_the_past();
  std::filesystem::last_write_time(folder / "depth",
                                   std::filesystem::file_time_type::clock::now() - 48h);
  const Wall begin = read_clocks().wall;
  (void)start();
  const auto past = start();
  ASSERT_EQ(past.size(), 1U);
  EXPECT_GE(past[0].taken, begin) << "a source that says its times seldom makes no gaps";
}

// A bug: samples that were too old when they were read counted in averages after a restart.
TEST_F(MetricInputsTest, ThePastHasNothingThatWasTooOld) {
  ask_for_the_past();
  config.site.metrics[0].max_age = 24h;
  std::filesystem::last_write_time(folder / "depth",
                                   std::filesystem::file_time_type::clock::now() - 48h);
  (void)start();
  EXPECT_TRUE(start().empty());
}

}  // namespace
}  // namespace hostler::daemon
