// Which hosts of an outside scheduler end only once it has acknowledged that. "5.3.2":
// docs/design/determined.md.
#include "tests/unit/scheduler/agents_fixture.h"

namespace hostler::scheduler {
namespace {

using model::Reason;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(AgentsTest, W2_AnIdleHostIsNamedFirstAndEndsOnceThatIsAcknowledged) {
  host(1, AgentState::kIdle, 21min);
  Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  ASSERT_THAT(made.going, SizeIs(1));
  EXPECT_EQ(made.going[0].reason, "idle for 21 m, idle timeout 20 m");
  site.snapshot.hosts[0].acknowledged = true;
  made = plan();
  EXPECT_THAT(made.going, IsEmpty());
  ASSERT_THAT(made.shutdowns, SizeIs(1));
  EXPECT_EQ(made.shutdowns[0].code, Reason::kIdle);
}

TEST_F(AgentsTest, AHostThatMayNotEndYetStaysNamed) {
  site.snapshot.site.destroys = 0;
  host(1, AgentState::kIdle, 21min).acknowledged = true;
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(1)) << "else its acknowledgement would be void";
}

TEST_F(AgentsTest, AnInterruptedHostNeedsNoHandshakeOnceItIsIdle) {
  host(1, AgentState::kIdle).cordoned = true;
  host(2, AgentState::kBusy).cordoned = true;
  EXPECT_THAT(ids(plan().shutdowns), ElementsAre(1));
}

TEST_F(AgentsTest, ADrainedHostGoesByTheHandshakeOnceItIsIdle) {
  host(1, AgentState::kIdle).draining = true;
  host(2, AgentState::kBusy).draining = true;
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(1));
}

TEST_F(AgentsTest, AHostThatHostlerCannotReachGoesByTheHandshakeOnceItIsIdle) {
  host(1, AgentState::kBusy).unreachable_since = Mono(1h);
  host(2, AgentState::kIdle).unreachable_since = Mono(1h);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(2));
}

TEST_F(AgentsTest, AHostWhoseTypeLeftTheMenuGoesByTheHandshake) {
  host(1, AgentState::kIdle).offering = UINT32_MAX;
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(1));
}

TEST_F(AgentsTest, AHostThatIsTooSmallGivesWayByTheHandshake) {
  site.pool().sizes.max = 1;
  const std::uint32_t small = site.type("small", 2, 8, 200);
  site.snapshot.offerings[small].resources.slots = 2;
  HostView& idle = host(1, AgentState::kIdle);
  idle.offering = small;
  idle.total.slots = idle.free.slots = 2;
  tasks(1, 8);
  const Plan made = plan();
  EXPECT_THAT(made.shutdowns, IsEmpty());
  EXPECT_THAT(ids(made.going), ElementsAre(1));
}

}  // namespace
}  // namespace hostler::scheduler
