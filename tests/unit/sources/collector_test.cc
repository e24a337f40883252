#include "core/sources/collector.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>

#include "core/base/mutex.h"
#include "tests/support/fake_http.h"
#include "tests/temp_folder.h"

namespace hostler::sources {
namespace {

using namespace std::chrono_literals;
using test::FakeHttp;
using test::http_reply;

/// What a collector has reported.
class Reports {
 public:
  void add(model::MetricReading reading) {
    const MutexLock lock(mutex_);
    auto& of_metric = readings_[reading.metric];
    of_metric.push_back(std::move(reading));
    come_.notify_all();
  }
  /// Blocks until a metric has so many readings; returns the last of these.
  model::MetricReading wait_for(const std::string& metric, std::size_t count = 1) {
    const MutexLock lock(mutex_);
    come_.wait(mutex_,
               [&]() HOSTLER_REQUIRES(mutex_) { return readings_[metric].size() >= count; });
    return readings_[metric][count - 1];
  }
  std::size_t count(const std::string& metric) {
    const MutexLock lock(mutex_);
    return readings_[metric].size();
  }

 private:
  Mutex mutex_;
  Condition come_;
  std::map<std::string, std::vector<model::MetricReading>> readings_ HOSTLER_GUARDED_BY(mutex_);
};

class CollectorTest : public testing::Test {
 protected:
  static model::MetricSource http(const std::string& name, const std::string& url,
                                  Duration interval = 1h, Duration timeout = 1h) {
    model::MetricSource source;
    source.name = name;
    source.kind = model::MetricSource::Kind::kHttp;
    source.url = url;
    source.interval = interval;
    source.timeout = timeout;
    return source;
  }
  static model::MetricSource exec(const std::string& name, const std::string& script) {
    model::MetricSource source;
    source.name = name;
    source.kind = model::MetricSource::Kind::kExec;
    source.command = {"/bin/sh", "-c", script};
    source.interval = 1h;
    source.timeout = 1h;
    return source;
  }

  Reports reports;
  FakeHttp good{[](const std::string&) { return http_reply("5"); }};
  FakeHttp hanging{[](const std::string&) {
    return FakeHttp::Reply{"", FakeHttp::Reply::Then::kHang, "x"};
  }};
  test::TempFolder folder;
  Collector collector{[this](model::MetricReading reading) { reports.add(std::move(reading)); }};
};

TEST_F(CollectorTest, ReadsEverySourceAtOnce) {  // F-W13: not an interval later
  model::MetricSource file = exec("file", "");
  file.kind = model::MetricSource::Kind::kFile;
  file.file = folder.put("metric", "7");
  collector.set_sources({http("http", good.url()), file, exec("exec", "echo 9")});
  EXPECT_EQ(reports.wait_for("http").samples.at(0).value, 5);
  EXPECT_EQ(reports.wait_for("file").samples.at(0).value, 7);
  EXPECT_EQ(reports.wait_for("exec").samples.at(0).value, 9);
}

TEST_F(CollectorTest, ReadsAgainAfterEachIntervalAndRecoversByItself) {
  int asked = 0;  // of one thread at a time
  FakeHttp flapping([&](const std::string&) {
    return ++asked == 2 ? http_reply("", "503 Down") : http_reply(std::to_string(asked));
  });
  collector.set_sources({http("depth", flapping.url(), 5ms)});
  EXPECT_EQ(reports.wait_for("depth", 1).samples.at(0).value, 1);
  EXPECT_NE(reports.wait_for("depth", 2).failure, "");
  EXPECT_EQ(reports.wait_for("depth", 3).samples.at(0).value, 3);
}

TEST_F(CollectorTest, SourcesThatHangDelayNoOther) {  // F-W5, F-W13
  std::vector<model::MetricSource> sources;
  for (int i = 0; i < 30; ++i) {
    sources.push_back(http("hangs" + std::to_string(i), hanging.url()));
    sources.push_back(exec("sleeps" + std::to_string(i), "sleep 1000; :"));
  }
  collector.set_sources(sources);
  hanging.wait_for_requests(30);
  sources.push_back(http("depth", good.url(), 5ms));
  sources.push_back(exec("exec", "echo 9"));
  collector.set_sources(sources);
  EXPECT_EQ(reports.wait_for("depth", 20).samples.at(0).value, 5);
  EXPECT_EQ(reports.wait_for("exec").samples.at(0).value, 9);
  EXPECT_EQ(reports.count("hangs0"), 0U);
  EXPECT_EQ(hanging.requests().size(), 30U);
}

TEST_F(CollectorTest, ASourceIsNotReadAgainWhileItIsRead) {
  collector.set_sources({http("hangs", hanging.url(), 1ms), http("depth", good.url(), 1ms)});
  reports.wait_for("depth", 20);
  EXPECT_LE(hanging.requests().size(), 1U);
}

TEST_F(CollectorTest, ATimeoutIsAFailureAndTheSourceIsReadAgain) {
  collector.set_sources({http("hangs", hanging.url(), 10ms, 20ms)});
  EXPECT_EQ(reports.wait_for("hangs", 1).failure, hanging.url() + " did not answer within 20 ms");
  reports.wait_for("hangs", 2);
}

// Bug: a reading that had waited for its turn until its time was over never ended, and its metric
// was dead until the next start.
TEST_F(CollectorTest, ASourceThatNeverHadItsTurnIsReadOnceOthersEnd) {
  std::vector<model::MetricSource> sources;
  for (int i = 0; i < 64; ++i)
    sources.push_back(exec("sleeps" + std::to_string(i), "sleep 1000; :"));
  model::MetricSource late = exec("late", "echo 9");
  late.interval = 5ms;
  late.timeout = 1ms;  // and a second more
  sources.push_back(late);
  collector.set_sources(sources);
  EXPECT_EQ(reports.wait_for("late").failure, "the source did not answer within 1 ms");
  late.timeout = 1h;
  late.name = "again";  // Of the same program, which has its turn now.
  collector.set_sources({sources.back(), late});
  EXPECT_EQ(reports.wait_for("again").samples.at(0).value, 9);
  reports.wait_for("late", 2);
}

TEST_F(CollectorTest, SourcesThatAreEqualGoOn) {
  collector.set_sources({http("depth", good.url()), http("hangs", hanging.url())});
  reports.wait_for("depth");
  hanging.wait_for_requests(1);
  collector.set_sources(
      {http("hangs", hanging.url()), http("depth", good.url()), http("new", good.url())});
  reports.wait_for("new");
  EXPECT_EQ(reports.count("depth"), 1U);
  EXPECT_EQ(hanging.requests().size(), 1U);
}

TEST_F(CollectorTest, ASourceThatChangesIsReadAtOnceAndTheOldOneReportsNothing) {
  collector.set_sources({http("depth", hanging.url())});
  hanging.wait_for_requests(1);
  collector.set_sources({http("depth", good.url())});
  EXPECT_EQ(reports.wait_for("depth").samples.at(0).value, 5);
  EXPECT_EQ(reports.count("depth"), 1U);
}

TEST_F(CollectorTest, NothingIsReportedOfSourcesThatAreGone) {
  collector.set_sources({http("depth", good.url(), 1ms)});
  reports.wait_for("depth", 3);
  collector.set_sources({});
  const std::size_t count = reports.count("depth");
  collector.set_sources({http("other", good.url(), 1ms)});
  reports.wait_for("other", 10);
  EXPECT_EQ(reports.count("depth"), count);
}

TEST_F(CollectorTest, AProgramWhoseSourceIsGoneIsEnded) {
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  collector.set_sources({exec("sleeps", "exec 3>" + fifo + "; echo x >&3; sleep 1000; :")});
  std::ifstream open_by_it(fifo);
  std::string line;
  EXPECT_TRUE(std::getline(open_by_it, line));
  collector.set_sources({http("depth", good.url(), 1ms)});
  EXPECT_FALSE(std::getline(open_by_it, line));  // The end comes when nobody has it open.
  reports.wait_for("depth", reports.count("depth") + 20);
  EXPECT_EQ(reports.count("sleeps"), 0U);
}

TEST_F(CollectorTest, AThousandMetricsAreRead) {
  std::vector<model::MetricSource> sources;
  for (int i = 0; i < 900; ++i) sources.push_back(http("m" + std::to_string(i), good.url()));
  for (int i = 900; i < 1000; ++i) sources.push_back(exec("m" + std::to_string(i), "echo 5"));
  collector.set_sources(sources);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(reports.wait_for("m" + std::to_string(i)).failure, "") << i;
}

TEST_F(CollectorTest, TheCountsOfHostlerAreLeftOut) {
  model::MetricSource source = exec("queued", "");
  source.kind = model::MetricSource::Kind::kHostler;
  collector.set_sources({source, http("depth", good.url())});
  reports.wait_for("depth");
  EXPECT_EQ(reports.count("queued"), 0U);
}

}  // namespace
}  // namespace hostler::sources
