#include "core/daemon/loop.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <latch>
#include <memory>

#include "core/base/clock.h"
#include "core/base/mutex.h"

/// What the loop hands over, and when.
namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

/// One set with one pool and one small type.
model::SitePolicy small_site() {
  model::SitePolicy site;
  auto& set = site.sets.emplace_back();
  set.name = "west";
  auto& type = site.types.emplace_back();
  type.name = "small";
  type.resources.vcpus = 2;
  auto& pool = site.pools.emplace_back();
  pool.name = "default";
  pool.sets = {"west"};
  return site;
}

/// A loop whose store never commits: it takes changes and answers nothing.
class LoopTest : public testing::Test {
 protected:
  LoopTest()
      : loop(dispatch::Dispatcher(
                 small_site(),
                 [](const model::PoolPolicy&, const std::string&, const model::SetInfo&,
                    model::CreateRequest&, model::HostIdentity&) {},
                 {}),
             metrics,
             {[this](const dispatch::Outbox& out, model::Revision) {
                const MutexLock lock(mutex);
                waiting += out.effects.size();
              },
              [this](std::vector<dispatch::Effect> effects) {
                const MutexLock lock(mutex);
                for (auto& effect : effects) issued.push_back(std::move(effect));
                changed.notify_all();
              }}) {
    loop.start({});
  }

  /// Waits until an effect of this kind was issued; false: it was not.
  template <class Kind>
  [[nodiscard]] bool await() {
    const MutexLock lock(mutex);
    return changed.wait_for(mutex, 60s, [this]() HOSTLER_REQUIRES(mutex) {
      return std::ranges::any_of(
          issued, [](const auto& effect) { return std::holds_alternative<Kind>(effect); });
    });
  }

  struct Latches {
    std::latch is_held{1}, may_go_on{1};
  };
  /// Blocks the loop until it may go on.
  std::shared_ptr<Latches> hold() {
    const auto latches = std::make_shared<Latches>();
    loop.query([latches](const dispatch::Queries&, Now) {
      latches->is_held.count_down();
      latches->may_go_on.wait();
    });
    latches->is_held.wait();
    return latches;
  }

  metrics::Metrics metrics{"test"};
  Mutex mutex;
  Condition changed;
  std::vector<dispatch::Effect> issued HOSTLER_GUARDED_BY(mutex);
  std::size_t waiting HOSTLER_GUARDED_BY(mutex) = 0;  ///< Effects that wait for a commit.
  Loop loop;
};

// Bug: all effects waited for the disk, so a daemon on a slow one planned and listed late.
TEST_F(LoopTest, SetsAreOpenedAndListedAndPlansMadeThoughNothingIsDurable) {
  EXPECT_TRUE(await<dispatch::OpenSet>());

  loop.post(dispatch::SetOpened{"west", model::SetInfo{}});

  EXPECT_TRUE(await<dispatch::ListCall>());
  EXPECT_TRUE(await<dispatch::MakePlan>());
}

// Bug: each record of a create was an event: twenty creates that repeated theirs took 1 GB, and the
// loop 3 s.
TEST_F(LoopTest, ALaterRecordOfACreateTakesThePlaceOfOneThatWaits) {
  const auto held = hold();
  const auto see = [this](std::uint64_t number) {
    model::ListedInstance seen;
    seen.id = "i-" + std::to_string(number);
    loop.post(dispatch::CreateSeen{model::InstanceId{number}, seen});
  };

  for (int i = 0; i < 1000; ++i)
    for (const std::uint64_t create : {1, 2}) see(create);
  EXPECT_EQ(loop.waiting(), 2U);

  loop.post(dispatch::CreateEnded{model::InstanceId{1}, {}});
  for (int i = 0; i < 1000; ++i) see(1);
  EXPECT_EQ(loop.waiting(), 4U) << "what comes after an end stays after it";
  held->may_go_on.count_down();
}

// Bug: while the loop was busy, each reading of a metric waited: some hundred metrics with ten
// thousand keys each took all memory.
TEST_F(LoopTest, ALaterReadingOfAMetricTakesThePlaceOfOneThatWaits) {
  auto site = small_site();
  for (const char* name : {"depth", "rps"}) site.metrics.emplace_back().name = name;
  loop.post(dispatch::PolicyChanged{site});
  const auto held = hold();
  const auto read = [this](const std::string& metric, const std::string& failure) {
    model::MetricReading reading{.metric = metric, .samples = {}, .failure = failure};
    if (failure.empty())
      reading.samples.push_back({.key = "", .value = 5, .taken = read_clocks().wall});
    loop.post(dispatch::MetricsRead{{std::move(reading)}});
  };

  for (int i = 0; i < 1000; ++i)
    for (const char* metric : {"depth", "rps"}) read(metric, "down");
  read("depth", "");
  EXPECT_EQ(loop.waiting(), 2U);

  loop.post(dispatch::PolicyChanged{site});
  for (int i = 0; i < 1000; ++i) read("rps", "");
  EXPECT_EQ(loop.waiting(), 4U) << "what comes after a change of the policy stays after it";

  std::promise<std::vector<model::MetricStatus>> asked;
  loop.query(
      [&asked](const dispatch::Queries& state, Now now) { asked.set_value(state.metrics(now)); });
  held->may_go_on.count_down();
  using Counts = std::map<std::string, std::uint64_t>;
  const auto metrics_read = asked.get_future().get();
  ASSERT_EQ(metrics_read.size(), 2U);
  EXPECT_EQ(metrics_read[0].readings, (Counts{{"ok", 1}})) << metrics_read[0].name;
  EXPECT_EQ(metrics_read[1].readings, (Counts{{"failed", 1}, {"ok", 1}})) << metrics_read[1].name;
}

// Bug: some hundred questions that take long held up all that had come after them.
TEST_F(LoopTest, EventsDoNotWaitForAllQueriesThatCameBefore) {
  const auto seen = std::make_shared<std::promise<std::int32_t>>();
  const auto slow = [this](const dispatch::Queries&, Now began) {
    auto changed_site = small_site();
    changed_site.pools[0].attempts_parallel_max = 7;
    loop.post(dispatch::PolicyChanged{changed_site});
    while (read_clocks().mono < began.mono + 50ms) continue;
  };
  // On the loop, so that all of them are there before the first is answered.
  loop.query([&, seen](const dispatch::Queries&, Now) {
    loop.query(slow);
    loop.query([seen](const dispatch::Queries& state, Now) {
      seen->set_value(state.policy().pools[0].attempts_parallel_max);
    });
  });
  EXPECT_EQ(seen->get_future().get(), 7);
}

// Bug: the last three were counted as work for clouds.
TEST_F(LoopTest, WhatPeopleAskForCountsAsRequests) {
  loop.post(dispatch::Submit{});
  loop.post(dispatch::CancelWork{});
  loop.post(dispatch::SetIdleBehavior{});
  loop.post(dispatch::KillInstance{});
  loop.post(dispatch::OpenGate{});
  loop.post(dispatch::AcceptAccount{});
  loop.post(dispatch::BelieveList{});
  loop.post(dispatch::GiveUpUnreachable{});

  loop.stop();

  EXPECT_THAT(metrics.text(),
              testing::HasSubstr("hostler_loop_event_seconds_count{kind=\"request\"} 8\n"));
}

TEST_F(LoopTest, AnAnswerToAPersonWaitsForItsCommit) {
  dispatch::Submit submit;
  submit.ticket = 7;
  submit.principal = "user ann";
  submit.work.resize(1);
  loop.post(std::move(submit));

  loop.stop();

  const MutexLock lock(mutex);
  EXPECT_EQ(waiting, 1U);
  for (const auto& effect : issued) EXPECT_FALSE(std::holds_alternative<dispatch::Reply>(effect));
}

}  // namespace
}  // namespace hostler::daemon
