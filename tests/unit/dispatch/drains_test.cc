// What is done before a host goes because of its pool's bounds.
#include "core/dispatch/immediate_effects.h"
#include "tests/unit/dispatch/scaling_fixture.h"

namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Two hosts, and from now on the pool wants one.
class DrainsTest : public ScalingTest {
 protected:
  static model::SitePolicy site() {
    auto out = web("queue");
    auto& scaling = out.pools[0].scaling;
    scaling.down.window = 0s;
    scaling.drain = model::DrainPolicy{
        .command = {"/usr/local/bin/deregister"}, .quiet = "connections == 0", .timeout = 5min};
    auto& metric = out.metrics.emplace_back();
    metric.name = "connections";
    metric.by = "instance";
    return out;
  }
  /// The id of the host that drains.
  InstanceId shrink(model::SitePolicy policy = site()) {
    begin(std::move(policy));
    boot_all(2);
    story.pass(20s);
    read(1);
    const auto drains = draining();
    EXPECT_THAT(drains, SizeIs(1));
    return drains.empty() ? InstanceId{} : drains.front();
  }
  std::vector<InstanceId> draining() const {
    std::vector<InstanceId> out;
    for (const auto id : hosts)
      if (story.record(id).drain_began.us != 0) out.push_back(id);
    return out;
  }
  void connections(InstanceId id, double value, const std::string& name = {}) {
    const std::string key = name.empty() ? id.text() : name;
    story.say(
        MetricsRead{{model::MetricReading{"connections", {{key, value, story.now.wall}}, {}}}});
  }
  void end(InstanceId id, bool good = true) {
    story.say(DrainEnded{id, story.record(id).drain_began, good, "exit status 1"});
  }
  std::vector<DrainCall> calls() const { return story.all<DrainCall>(); }
};

TEST_F(DrainsTest, TheCommandRunsOnceAndTheHostGoesWhenItIsQuiet) {
  const auto id = shrink();
  ASSERT_THAT(calls(), SizeIs(1));
  EXPECT_EQ(calls()[0].instance, id);
  EXPECT_EQ(calls()[0].cloud_id, story.record(id).provider_id);
  EXPECT_EQ(calls()[0].pool, "default");
  EXPECT_THAT(calls()[0].command, ElementsAre("/usr/local/bin/deregister"));
  connections(id, 0);
  EXPECT_THAT(ends(), IsEmpty()) << "its command runs";
  end(id);
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
  EXPECT_THAT(calls(), SizeIs(1));
}

// Bug: a number of before the drain counted as quiet.
TEST_F(DrainsTest, WhatWasMeasuredBeforeTheEndOfTheCommandIsNotQuiet) {
  const auto id = shrink();
  connections(id, 0);
  end(id);
  story.pass(10s);
  EXPECT_THAT(ends(), IsEmpty()) << "it was measured before";
  const Wall old = story.now.wall + -20s;
  story.say(MetricsRead{{model::MetricReading{"connections", {{id.text(), 0, old}}, {}}}});
  EXPECT_THAT(ends(), IsEmpty()) << "it was read after, and measured before";
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

// Bug: the same.
TEST_F(DrainsTest, WithoutACommandOnlyWhatIsMeasuredAfterTheBeginIsQuiet) {
  auto policy = site();
  policy.pools[0].scaling.drain->command.clear();
  begin(policy);
  boot_all(2);
  story.pass(20s);
  story.say(MetricsRead{{model::MetricReading{
      "connections",
      {{hosts[0].text(), 0, story.now.wall}, {hosts[1].text(), 0, story.now.wall}},
      {}}}});
  read(1);
  ASSERT_THAT(draining(), SizeIs(1));
  const auto id = draining().front();
  story.pass(10s);
  EXPECT_THAT(ends(), IsEmpty());
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

// Bug: a host that was switched off and on may drain again while the end of its first command is
// still to come.
TEST_F(DrainsTest, TheEndOfAnOlderDrainsCommandChangesNothing) {
  const auto id = shrink();
  story.say(DrainEnded{id, story.record(id).drain_began + -1h, /*good=*/true, {}});
  connections(id, 0);
  EXPECT_THAT(ends(), IsEmpty()) << "its own command runs";
  end(id);
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

// Bug: no plan followed one that had begun as many drains as it may.
TEST_F(DrainsTest, AllHostsDrainWhereOnlyOneMayGoByOneDecision) {
  auto policy = site();
  policy.ceilings.destroys_per_decision_max = 1;
  begin(policy);
  boot_all(3);
  story.pass(20s);
  read(0);
  for (int n = 0; n < 3; ++n) story.pass(1s);
  EXPECT_THAT(draining(), SizeIs(3));
}

TEST_F(DrainsTest, TheCommandWaitsForTheRow) {
  auto out = Outbox{};
  out.effects.push_back(DrainCall{});
  EXPECT_THAT(take_immediate(out), IsEmpty());
}

TEST_F(DrainsTest, AHostThatIsNotQuietGoesAfterItsTimeout) {
  const auto id = shrink();
  end(id);
  connections(id, 3);
  story.pass(4min);
  connections(id, 3);
  EXPECT_THAT(ends(), IsEmpty());
  story.pass(1min);
  EXPECT_THAT(ends(), ElementsAre(id));
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("drain_timed_out")));
}

TEST_F(DrainsTest, WhatIsNotKnownIsNotQuietWhateverOnFailureSays) {
  auto policy = site();
  policy.metrics[1].on_failure = model::OnFailure::kValue;
  policy.metrics[1].value = 0;
  const auto id = shrink(policy);
  end(id);
  connections(id, 3);
  story.say(MetricsRead{{model::MetricReading{"connections", {}, "HTTP 500"}}});
  story.pass(1min);
  EXPECT_THAT(ends(), IsEmpty());
}

TEST_F(DrainsTest, AMetricMayNameTheHostAsItsCloudDoes) {
  const auto id = shrink();
  end(id);
  connections(id, 0, story.record(id).provider_id);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, AFailedCommandIsToldAndTheHostStillHasToBecomeQuiet) {
  const auto id = shrink();
  end(id, /*good=*/false);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("drain_command_failed")));
  EXPECT_THAT(ends(), IsEmpty());
  const auto view = story.dispatcher.queries().instance(id, story.now);
  EXPECT_THAT(view->conditions, Contains(HasSubstr("its drain command failed")));
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, WithoutAnExpressionTheEndOfTheCommandIsQuiet) {
  auto policy = site();
  policy.pools[0].scaling.drain->quiet.clear();
  const auto id = shrink(policy);
  end(id);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, AfterARestartTheCommandIsNotRunAgain) {
  const auto id = shrink();
  restart(site());
  for (const auto one : hosts) story.boot(one);
  read(1);
  story.pass(1min);
  EXPECT_THAT(calls(), IsEmpty());
  EXPECT_THAT(ends(), IsEmpty()) << "nobody knows whether it is quiet";
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, AfterARestartTheTimeGoesOn) {
  const auto id = shrink();
  story.pass(4min);
  restart(site());
  for (const auto one : hosts) story.boot(one);
  read(1);
  story.pass(2min);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, AHostThatDrainsGetsNoWorkAndGoesAlsoIfTheBoundRises) {
  const auto id = shrink();
  story.submit({story.job(1), story.job(1), story.job(1), story.job(1), story.job(1)});
  for (const auto& start : story.commands<model::StartAttempt>()) EXPECT_NE(start.instance, id);
  read(2);
  end(id);
  connections(id, 0);
  EXPECT_THAT(ends(), ElementsAre(id));
}

TEST_F(DrainsTest, AHostThatAnAdminHoldsStays) {
  const auto id = shrink();
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "admin", id, model::IdleBehavior::kHold}));
  end(id);
  connections(id, 0);
  EXPECT_THAT(ends(), IsEmpty());
}

TEST_F(DrainsTest, AnEndThatNobodyWaitsForChangesNothing) {
  const auto id = shrink();
  story.say(DrainEnded{InstanceId{99}, {}, true, {}});
  end(id);
  end(id, /*good=*/false);
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("drain_command_failed"))));
}

TEST_F(DrainsTest, ThePlanKnowsTheRankOfEachHost) {
  auto policy = site();
  policy.pools[0].scaling.rank = "connections";
  begin(policy);
  boot_all(2);
  story.plans_wait = true;
  connections(hosts[1], 4);
  read(1);
  ASSERT_TRUE(story.plan || !story.all<MakePlan>().empty());
  const auto snapshot = story.all<MakePlan>().back().snapshot;
  EXPECT_FALSE(snapshot->hosts[0].rank);
  EXPECT_EQ(snapshot->hosts[1].rank, 4);
}

}  // namespace
}  // namespace hostler::dispatch
