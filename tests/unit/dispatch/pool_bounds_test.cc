// A source of bounds beside the configuration. None exists yet: this one is of the test.
#include "core/dispatch/handlers/handlers.h"
#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

using scheduler::Bound;
using scheduler::BoundOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// The owners of the state without a dispatcher: sources will be handlers beside these.
class PoolBoundsTest : public testing::Test {
 protected:
  /// Sends a snapshot to the planner, and says that its plan was made and does nothing.
  void plan() {
    ASSERT_TRUE(state.plan.is_due(now.mono));
    handlers.plans.send_due(now);
    state.plan.end();
    state.plan.set_wanted(false);
  }

  State state{small_site(), 1};
  Handlers handlers{state, {}, {}};
  Now now{Mono(100h), Wall{1'700'000'000'000'000}};
  const Bound three{.of = BoundOf::kStartedMin,
                    .source = "pushed",
                    .number = 3,
                    .reason = "7 tasks",
                    .until = now.mono + 5min};
};

TEST_F(PoolBoundsTest, APlanSeesWhatASourceSays) {
  state.bounds.say(0, "pushed", {three});
  EXPECT_THAT(handlers.snapshots.make(now).snapshot->bounds, ElementsAre(ElementsAre(three)));
  EXPECT_EQ(state.bounds.numbers(state.policy, state.hosts, state.set_aside, 0).started.min.text(),
            "3 (pushed: 7 tasks)");
  EXPECT_EQ(Queries(state).bounds().at(0).started.max.text(), "10");
}

TEST_F(PoolBoundsTest, ASourceReplacesWhatItHasSaidAndNothingElse) {
  Bound other = three;
  other.source = "admin";
  state.bounds.say(0, "pushed", {three});
  state.bounds.say(0, "admin", {other});
  state.bounds.say(0, "pushed", {});
  EXPECT_THAT(state.bounds.by_pool(), ElementsAre(ElementsAre(other)));
}

TEST_F(PoolBoundsTest, APlanIsDueWhenTheNextOneEndsAndItIsUnknownThen) {
  Bound later = three;
  later.of = BoundOf::kStandby;
  later.until = now.mono + 6min;
  state.bounds.say(0, "pushed", {three, later});
  plan();
  EXPECT_EQ(state.plan.next_wake(), now.mono + 5min);
  now.mono += 5min - 1ns;
  EXPECT_FALSE(state.plan.is_due(now.mono));
  now.mono += 1ns;
  plan();
  const auto& said = state.bounds.by_pool().at(0);
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(said[0].number, std::nullopt);
  EXPECT_EQ(said[0].reason, "7 tasks; that has ended");
  EXPECT_EQ(said[1], later);
  EXPECT_EQ(state.plan.next_wake(), now.mono + 1min);
}

TEST_F(PoolBoundsTest, WithTheConfigurationAloneNoPlanIsDueForABound) {
  plan();
  EXPECT_EQ(state.plan.next_wake(), fleet::kNever);
  EXPECT_THAT(handlers.snapshots.make(now).snapshot->bounds, IsEmpty());
}

// Bug: a list with the hosts that are switched off was doubted, and so was each list while the
// maximum was unknown.
TEST_F(PoolBoundsTest, APoolMayHaveItsCreatedHostsAndWhatItsCeilingAllowsWhileThatIsUnknown) {
  const auto most = [&] { return state.bounds.hosts_max(state.policy, 0); };
  EXPECT_EQ(most(), 10);
  Bound bound = three;
  bound.of = BoundOf::kCreatedMax;
  bound.number = 40;
  state.bounds.say(0, "pushed", {bound});
  EXPECT_EQ(most(), 40);
  bound.number.reset();
  state.bounds.say(0, "pushed", {bound});
  EXPECT_EQ(most(), scheduler::kBoundMax) << "no ceiling";
  auto site = small_site();
  site.pools[0].ceilings.instances_max = 50;
  EXPECT_EQ(state.bounds.hosts_max(site, 0), 50);
  bound.of = BoundOf::kCreatedMin;
  bound.number = 3;
  state.bounds.say(0, "pushed", {bound});
  EXPECT_EQ(state.bounds.hosts_max(site, 0), 50) << "nobody says a maximum of created hosts";
}

TEST_F(PoolBoundsTest, QuestionsShowTheNumbersThatPlansGoBy) {
  Bound most = three;
  most.of = BoundOf::kStartedMax;
  most.number = 0;
  state.bounds.say(0, "pushed", {most});
  const Queries queries(state);
  EXPECT_EQ(queries.pools().at(0).max, 0);
  EXPECT_EQ(queries.reasons_of_pool("default", now)->ceiling,
            "pool default has 0 instances, max is 0 (pushed: 7 tasks)");
}

}  // namespace
}  // namespace hostler::dispatch
