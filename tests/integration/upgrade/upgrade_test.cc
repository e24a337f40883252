#include <gmock/gmock.h>

#include <deque>
#include <fstream>
#include <future>
#include <sstream>

#include "core/store/sqlite/database.h"
#include "core/store/store.h"
#include "tests/integration/upgrade/fake_agent.h"
#include "tests/temp_folder.h"

/// The rows of a daemon of schema version 2 that was killed: j-1 runs, j-3 and j-4 wait, the output
/// of j-5 is being collected, h-1 is busy.
namespace hostler::upgrade {
namespace {

using model::WorkState;

model::SitePolicy site() {
  model::SitePolicy out;
  auto& type = out.types.emplace_back();
  type.name = "small";
  type.resources = {.vcpus = 2, .gpus = 0, .ram = std::int64_t{2} << 30, .scratch = 1 << 30};
  out.sets.emplace_back().name = "local";
  auto& pool = out.pools.emplace_back();
  pool.name = "default";
  pool.sets = {"local"};
  pool.types = {"small"};
  pool.sizes.max = pool.sizes.min = 1;
  return out;
}

struct UpgradeTest : testing::Test {
  void SetUp() override {
    std::ifstream file(HOSTLER_STATE_VERSION_2);
    std::stringstream sql;
    sql << file.rdbuf();
    auto database = store::sqlite::open(folder / "hostler.db", store::Mode::kWrite, 1000);
    ASSERT_TRUE(database) << database.error().message;
    const auto filled = (*database)->execute(sql.str());
    ASSERT_TRUE(filled) << filled.error().message;
  }

  /// Commits the changes, and hands the effects to the agent once these are durable.
  void take(dispatch::Outbox out) {
    if (!out.changes.empty()) {
      std::promise<Result<store::Committed>> done;
      store->commit({dispatcher.queries().revision(), std::move(out.changes), {}},
                    [&](Result<store::Committed> result) { done.set_value(std::move(result)); });
      const auto committed = done.get_future().get();
      ASSERT_TRUE(committed) << committed.error().message;
    }
    for (const auto& effect : out.effects)
      for (auto& event : agent->answer(effect)) events.push_back(std::move(event));
  }

  /// Until nothing happens any more by itself.
  void run() {
    for (int second = 0; second < 30; ++second) {
      now.mono += std::chrono::seconds(1);
      now.wall = now.wall + std::chrono::seconds(1);
      take(dispatcher.tick(now));
      while (!events.empty()) {
        auto event = std::move(events.front());
        events.pop_front();
        take(dispatcher.apply(std::move(event), now));
      }
    }
  }

  WorkState state_of(std::uint64_t job) { return store->reads().job({job})->record.state; }

  test::TempFolder folder;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<FakeAgent> agent;
  dispatch::Dispatcher dispatcher{site(), {}, {}};
  std::deque<dispatch::Event> events;
  Now now{Mono(std::chrono::hours(1)), Wall{1'795'448'000'000'000}};
};

TEST_F(UpgradeTest, WaitingRunningAndCollectingJobsOfAnOlderDaemonAreTakenUpAndEnd) {
  auto opened = store::Store::open(folder.path(), {});
  ASSERT_TRUE(opened) << opened.error().message;
  store = std::move(*opened);
  auto restored = store->load();
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(restored->damaged.empty());
  ASSERT_EQ(restored->work.size(), 4U);
  EXPECT_EQ(restored->work[0].record.id.text(), "j-1");
  EXPECT_EQ(state_of(1), WorkState::kRunning);
  EXPECT_EQ(state_of(3), WorkState::kQueued);
  EXPECT_EQ(state_of(5), WorkState::kCollecting);
  agent = std::make_unique<FakeAgent>(*restored);

  take(dispatcher.restore(std::move(*restored), now));
  run();

  for (const std::uint64_t job : {1, 3, 4, 5}) EXPECT_EQ(state_of(job), WorkState::kSucceeded);
  for (const auto& [attempt, starts] : agent->starts()) {
    EXPECT_EQ(starts, 1) << attempt.text();
    EXPECT_EQ(attempt.number, 1U) << attempt.text();
  }
  EXPECT_EQ(agent->starts().size(), 4U);
  EXPECT_EQ(dispatcher.queries().instances().size(), 1U) << "the host goes on";
}

}  // namespace
}  // namespace hostler::upgrade
