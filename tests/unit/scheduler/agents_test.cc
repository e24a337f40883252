// Hosts of a pool that an outside scheduler sizes. "5.3.2": docs/design/determined.md.
#include "core/scheduler/shutdown_rule.h"
#include "tests/unit/scheduler/agents_fixture.h"

namespace hostler::scheduler {
namespace {

using model::Reason;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_F(AgentsTest, TasksAreBoughtForAndNeverPlaced) {
  host(1, AgentState::kIdle);
  tasks(2, 8, /*whole=*/true);
  const Plan made = plan();
  EXPECT_THAT(made.places, IsEmpty());
  ASSERT_THAT(made.creates, SizeIs(2)) << "the scheduler has placed what fits on its agents";
  EXPECT_EQ(made.creates[0].reason, "1 waiting task needs it");
  EXPECT_TRUE(made.creates[0].displaced);
}

TEST_F(AgentsTest, OnlyComingHostsTakeTasks) {
  host(1, AgentState::kComing, 1min, 1min);
  host(2, AgentState::kLost, 1min);
  tasks(2, 8, /*whole=*/true);
  const Plan made = plan();
  EXPECT_THAT(ids(made.covered), ElementsAre(1));
  EXPECT_THAT(made.creates, SizeIs(1));
}

TEST_F(AgentsTest, TasksArePackedByTheirSlots) {
  tasks(3, 4);
  const Plan made = plan();
  ASSERT_THAT(made.creates, SizeIs(2)) << "two tasks of 4 slots share a host of 8";
}

// 5.3.6: one type for each pool.
TEST_F(AgentsTest, W6_SmallTasksGetSmallHosts) {
  const std::uint32_t small = site.type("small", 2, 8, 200);
  site.snapshot.offerings[small].resources.slots = 2;
  tasks(1, 2);
  EXPECT_THAT(bought(plan()), ElementsAre(small));
}

// 5.3.8: requests for spot hosts never time out.
TEST_F(AgentsTest, W8_ASpotRequestThatTakesTooLongIsGivenUp) {
  const std::uint32_t spot = site.type("gpu-spot", 8, 32, 500, model::Market::kSpot);
  site.snapshot.offerings[spot].resources.slots = 8;
  HostView& request = host(1, AgentState::kComing, 0s, 1min);
  request.unfulfilled_spot = true;
  request.offering = spot;
  tasks(1, 8, /*whole=*/true);
  EXPECT_THAT(bought(plan()), IsEmpty());
  request.created = site.snapshot.now - 2h;
  const Plan made = plan();
  EXPECT_THAT(bought(made), ElementsAre(gpu));
  EXPECT_THAT(ids(made.shutdowns), ElementsAre(1)) << "nothing can run on it";
}

TEST_F(AgentsTest, ATextSaysHowManySlotsAreMissing) {
  tasks(1, 12);
  const Plan made = plan();
  EXPECT_THAT(made.creates, IsEmpty());
  ASSERT_THAT(made.waiting, SizeIs(1));
  EXPECT_EQ(made.waiting[0].reason, "1 task of 12 slots waits: gpu: 8 of 12 slots");
}

TEST_F(AgentsTest, TasksBeyondTheMaximumWaitAndSaySo) {
  site.pool().sizes.max = 1;
  host(1, AgentState::kBusy);
  tasks(3, 4);
  const Plan made = plan();
  ASSERT_THAT(made.waiting, SizeIs(1));
  EXPECT_EQ(made.waiting[0].code, model::WaitingCode::kAtCeiling);
  EXPECT_EQ(made.waiting[0].reason, "3 tasks of 4 slots wait: pool default is at its ceiling: max");
}

TEST_F(AgentsTest, JobsAndLeasesNeverGoThere) {
  site.pool().readiness = model::Readiness::kAgent;
  site.jobs(1, 1);
  site.leases(1, 1);
  EXPECT_THAT(plan().creates, IsEmpty());
}

TEST_F(AgentsTest, TasksGoToNoOtherPool) {
  site.pool().pushed.reset();
  site.snapshot.bounds.clear();
  tasks(1, 8);
  const Plan made = plan();
  EXPECT_THAT(made.creates, IsEmpty());
  ASSERT_THAT(made.waiting, SizeIs(1));
  EXPECT_THAT(made.waiting[0].reason, HasSubstr("pool default has no outside scheduler"));
}

// 5.3.2: a host ends on which the scheduler has just placed work.
TEST_F(AgentsTest, AtItsIdleTimeoutAHostStays) {
  host(1, AgentState::kIdle, 20min);
  EXPECT_THAT(plan().going, IsEmpty());
}

TEST_F(AgentsTest, TheMinimumKeepsIdleHosts) {
  site.pool().sizes.min = 2;
  for (const std::uint64_t id : {1, 2, 3}) host(id, AgentState::kIdle, 30min + id * 1min);
  EXPECT_THAT(ids(plan().going), ElementsAre(3)) << "the longest idle one";
}

TEST_F(AgentsTest, ComingHostsCountForTheMinimum) {
  site.pool().sizes.min = 1;
  host(1, AgentState::kComing, 1min, 1min);
  host(2, AgentState::kIdle, 21min);
  EXPECT_THAT(ids(plan().going), ElementsAre(2));
}

TEST_F(AgentsTest, TheHostThatIsGoingAlreadyGoesFirst) {
  site.pool().sizes.min = 2;
  for (const std::uint64_t id : {1, 2, 3}) host(id, AgentState::kIdle, 30min + id * 1min);
  site.snapshot.hosts[0].is_going = true;
  EXPECT_THAT(ids(plan().going), ElementsAre(1));
  site.snapshot.hosts[1].acknowledged = true;
  const Plan made = plan();
  EXPECT_THAT(ids(made.shutdowns), ElementsAre(2));
  EXPECT_THAT(made.going, IsEmpty());
}

// 5.3.4: beyond the maximum busy hosts are killed.
TEST_F(AgentsTest, W4_BeyondTheMaximumNoBusyHostGoes) {
  site.pool().sizes.max = 1;
  host(1, AgentState::kBusy);
  host(2, AgentState::kBusy);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.going, IsEmpty());
}

TEST_F(AgentsTest, BeyondTheMaximumSpotRequestsGoBeforeIdleLostAndComingHosts) {
  host(1, AgentState::kBusy);
  host(2, AgentState::kLost, 6min);
  host(3, AgentState::kIdle);
  host(4, AgentState::kComing, 0s, 2min);
  host(5, AgentState::kComing, 0s, 1min);
  host(6, AgentState::kComing, 0s, 3min).unfulfilled_spot = true;
  for (const auto& [max, going] : std::vector<std::pair<int, std::vector<std::uint64_t>>>{
           {4, {3}}, {3, {2, 3}}, {2, {2, 3, 5}}, {1, {2, 3, 4, 5}}, {0, {2, 3, 4, 5}}}) {
    site.pool().sizes.max = max;
    const Plan made = plan();
    EXPECT_EQ(ids(made.shutdowns), std::vector<std::uint64_t>{6})
        << "no agent can be on what is only asked for; max " << max;
    auto named = ids(made.going);
    std::ranges::sort(named);
    EXPECT_EQ(named, going) << "max " << max;
  }
}

TEST_F(AgentsTest, AHostThatGoesForItselfMakesRoomBelowTheMaximum) {
  site.pool().sizes.max = 2;
  host(1, AgentState::kIdle, 21min);
  host(2, AgentState::kIdle, 1min, 5min);
  host(3, AgentState::kBusy);
  const Plan made = plan();
  ASSERT_THAT(ids(made.going), ElementsAre(1)) << "not the newest as well";
  EXPECT_THAT(made.going[0].reason, HasSubstr("idle for 21 m"));
}

TEST_F(AgentsTest, AHostWithoutAgentIsLostFromStartingOn) {
  const Mono created{1h};
  const model::PushedPolicy pushed;
  EXPECT_EQ(without_agent(created, {}, pushed, created + 20min - 1ns).state, AgentState::kComing);
  const WithoutAgent at_once = without_agent(created, {}, pushed, created + 20min);
  EXPECT_EQ(at_once.state, AgentState::kLost);
  EXPECT_EQ(at_once.since, created + 20min);
  EXPECT_EQ(without_agent(created, created + 1min, pushed, created + 25min).since, created + 20min);
  EXPECT_EQ(without_agent(created, created + 22min, pushed, created + 25min).since,
            created + 22min);
}

// 5.3.5: a host whose start-up fails costs 30 minutes and holds demand for 20; users see only
// churn.
TEST_F(AgentsTest, W5_ALostHostTakesNoTasksAndEndsAfterDisconnectedWhateverTheMinimum) {
  site.pool().sizes.min = 1;
  host(1, AgentState::kLost, 10min).was_listed = false;
  EXPECT_THAT(plan().shutdowns, IsEmpty());
  site.snapshot.hosts[0].agent_since -= 1ns;
  const Plan made = plan();
  ASSERT_THAT(made.shutdowns, SizeIs(1)) << "no agent is there that could acknowledge";
  EXPECT_EQ(made.shutdowns[0].code, Reason::kDisconnected);
  EXPECT_EQ(made.shutdowns[0].reason, "without agent for 10 m, the limit is 10 m");
  EXPECT_THAT(made.creates, SizeIs(1)) << "the minimum gets another in the same plan";
}

TEST_F(AgentsTest, AnEmptyListOfAgentsShrinksNothingBeforeShrinkAfter) {
  site.pool().sizes.max = 0;
  site.pool().pushed->disconnected = 1min;
  host(1, AgentState::kLost, 4min);
  host(2, AgentState::kComing, 4min, 10min).was_listed = true;
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.going, IsEmpty());
  for (HostView& host : site.snapshot.hosts) host.agent_since -= 1min + 1ns;
  EXPECT_THAT(ids(plan().shutdowns), ElementsAre(1)) << "disconnected";
  EXPECT_THAT(ids(plan().going), ElementsAre(2)) << "beyond the maximum";
}

TEST_F(AgentsTest, BeyondLifetimeIdleHostsGoAndBusyOnesAreNamed) {
  site.pool().pushed->lifetime_max = 24h;
  site.pool().sizes.min = 2;
  host(1, AgentState::kIdle, 1min, 24h + 1ns);
  host(2, AgentState::kBusy, 1min, 25h);
  host(3, AgentState::kBusy, 1min, 24h);
  Plan made = plan();
  EXPECT_THAT(ids(made.going), ElementsAre(1, 2));
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.creates, SizeIs(1)) << "they are replaced";
  EXPECT_THAT(made.going[1].reason, HasSubstr("lifetime_max"));
  for (HostView& host : site.snapshot.hosts) host.acknowledged = true;
  made = plan();
  EXPECT_THAT(ids(made.shutdowns), ElementsAre(1));
  EXPECT_THAT(ids(made.going), ElementsAre(2)) << "busy";
}

TEST_F(AgentsTest, AHostThatGoesStillCountsForTheMaximum) {
  site.pool().pushed->lifetime_max = 24h;
  site.pool().sizes.min = 1;
  site.pool().sizes.max = 1;
  host(1, AgentState::kIdle, 1min, 25h);
  const Plan made = plan();
  EXPECT_THAT(ids(made.going), ElementsAre(1));
  EXPECT_THAT(made.creates, IsEmpty());
}

TEST_F(AgentsTest, InformationThatIsTooOldHoldsThePoolButForItsMinimum) {
  site.pool().sizes.min = 5;
  site.pool().sizes.max = 8;
  site.pool().pushed->lifetime_max = 24h;
  bounds({}, {});
  host(1, AgentState::kIdle, 2h).acknowledged = true;
  host(2, AgentState::kLost, 2h);
  host(3, AgentState::kIdle, 2h, 30h).acknowledged = true;
  tasks(9, 8, /*whole=*/true);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.going, IsEmpty());
  EXPECT_THAT(made.creates, SizeIs(2)) << "up to the minimum of 5";
}

TEST_F(AgentsTest, BeyondAMaximumNothingGoesWhileInformationIsTooOld) {
  site.pool().sizes.max = 1;
  bounds({}, {});
  host(1, AgentState::kIdle).acknowledged = true;
  host(2, AgentState::kComing, 0s, 1min);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.going, IsEmpty());
}

TEST_F(AgentsTest, WithoutAnyPushThePoolIsHeld) {
  site.snapshot.bounds.clear();
  host(1, AgentState::kIdle, 2h).acknowledged = true;
  tasks(1, 8);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(made.creates, IsEmpty());
}

TEST_F(AgentsTest, AnAbandonedPoolEmptiesWithoutHandshakeBusyHostsToo) {
  site.pool().sizes.min = 2;
  bounds(0, 0);
  host(1, AgentState::kIdle);
  host(2, AgentState::kBusy);
  host(3, AgentState::kLost, 1min);
  host(4, AgentState::kComing, 0s, 1min);
  host(5, AgentState::kIdle).kept = true;
  const Plan made = plan();
  EXPECT_THAT(ids(made.shutdowns), UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_THAT(made.going, IsEmpty());
  EXPECT_THAT(made.creates, IsEmpty());
  EXPECT_THAT(made.shutdowns[0].reason, HasSubstr("does not push any more"));
}

TEST_F(AgentsTest, AMaximumOfZeroOfTheConfigurationAbandonsNothing) {
  site.pool().sizes.max = 0;
  host(1, AgentState::kBusy);
  host(2, AgentState::kIdle);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(2));
}

}  // namespace
}  // namespace hostler::scheduler
