#include "core/agent/host/journal/sync_plan.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/attempts.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

class SyncPlanTest : public ::testing::Test {
 protected:
  void begin(std::uint64_t job) { attempts_.apply(agent::begin(job)); }
  void end(std::uint64_t job, std::int64_t now) {
    attempts_.apply(End{id(job), {}, false});
    plan_.ended(id(job), now);
  }
  Attempts attempts_;
  SyncPlan plan_;
};

// Bug: begins and acknowledgements were synced, and ends, which the shims write, were not.
TEST_F(SyncPlanTest, OnlyAnEndThatIsNotAcknowledgedIsSynced) {
  begin(1);
  EXPECT_EQ(plan_.due(attempts_), kNever);

  end(1, 1'000);
  EXPECT_EQ(plan_.due(attempts_), 101'000);

  attempts_.apply(Forget{id(1)});
  EXPECT_EQ(plan_.due(attempts_), kNever);
}

TEST_F(SyncPlanTest, OneSyncIsEnoughForAllEndsBeforeIt) {
  for (const std::uint64_t job : {1, 2, 3}) begin(job);
  end(1, 1'000);
  end(2, 2'000);
  attempts_.apply(Forget{id(1)});
  EXPECT_EQ(plan_.due(attempts_), 102'000);

  plan_.synced();
  EXPECT_EQ(plan_.due(attempts_), kNever);

  end(3, 200'000);
  EXPECT_EQ(plan_.due(attempts_), 300'000);
}

}  // namespace
}  // namespace hostler::agent
