#include "tests/unit/dispatch/pushed.h"

/// No host ends on which an outside scheduler may have placed work.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using PromisesTest = PushesTest;

TEST_F(PromisesTest, W2_AHostEndsOnlyAfterItsSchedulerHasAcknowledgedAndSaysItIsIdle) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  story.keep(6min, 0, {ids[0]});
  // keep() acknowledges each answer: the host was named once, and ended by the push after it.
  EXPECT_TRUE(story.ends(ids[0]));
}

TEST_F(PromisesTest, W2_WithoutAnAcknowledgementNoHostEnds) {
  begin();
  const auto ids = story.made(1);
  bool was_named = false;
  for (int i = 0; i < 40; ++i) {
    story.seen_ = 0;
    was_named |= !story.push(0, {ids[0]}).going.empty();
    story.pass(30s);
  }
  EXPECT_TRUE(was_named);
  EXPECT_FALSE(story.ends(ids[0]));
}

TEST_F(PromisesTest, W2_AHostThatIsBusyAtTheAcknowledgementIsOffTheList) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  model::PushAnswer answer;
  for (int i = 0; i < 20 && answer.going.empty(); ++i) {
    story.pass(30s);
    answer = story.push(0, {ids[0]});
  }
  ASSERT_THAT(answer.going, ElementsAre(ids[0].text()));
  EXPECT_THAT(story.push(0, {}, {ids[0]}).going, IsEmpty()) << "work came before the answer";
  story.pass(30s);
  EXPECT_FALSE(story.ends(ids[0]));
  EXPECT_THAT(story.push(0, {ids[0]}).going, IsEmpty()) << "its idle time begins anew";
}

// A push comes between the snapshot of a plan and the plan.
TEST_F(PromisesTest, W2_APlanThatKnowsAnOlderPushEndsNoHost) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  model::PushAnswer answer;
  for (int i = 0; i < 20 && answer.going.empty(); ++i) {
    story.pass(30s);
    answer = story.push(0, {ids[0]});
  }
  ASSERT_THAT(answer.going, SizeIs(1));
  story.plans_wait = true;
  story.push(0, {ids[0]});
  ASSERT_TRUE(story.plan);
  ASSERT_THAT(story.plan->plan.shutdowns, SizeIs(1));
  auto plan = *std::exchange(story.plan, std::nullopt);
  (void)story.push(0, {}, {ids[0]});
  story.plans_wait = false;
  story.say(std::move(plan));
  EXPECT_FALSE(story.ends(ids[0]));
}

// The new session knows of no answer to the one before, and may place work there now.
TEST_F(PromisesTest, W2_APlanThatKnowsTheAcknowledgementOfAnotherSessionEndsNoHost) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  model::PushAnswer answer;
  for (int i = 0; i < 20 && answer.going.empty(); ++i) {
    story.pass(30s);
    answer = story.push(0, {ids[0]});
  }
  story.plans_wait = true;
  story.push(0, {ids[0]});
  ASSERT_TRUE(story.plan);
  auto plan = *std::exchange(story.plan, std::nullopt);
  ASSERT_THAT(plan.plan.shutdowns, SizeIs(1));
  story.session = "s-2";
  (void)story.push(0, {ids[0]});
  story.say(std::move(plan));
  EXPECT_FALSE(story.ends(ids[0]));
}

TEST_F(PromisesTest, AHostThatIsBusyInTheLastPushNeverEnds) {
  auto site = pushed_site();
  site.pools[0].pushed->lifetime_max = 1h;
  begin(site);
  const auto ids = story.made(2);
  story.keep(2h, 0, {}, ids);
  EXPECT_FALSE(story.ends(ids[0]));
  EXPECT_FALSE(story.ends(ids[1]));
  const auto going = story.push(0, {}, ids).going;
  EXPECT_THAT(going, SizeIs(2)) << "they are too old, and their scheduler is to drain them";
  story.keep(1min, 0, {ids[0]}, {ids[1]});
  EXPECT_TRUE(story.ends(ids[0]));
  EXPECT_FALSE(story.ends(ids[1]));
}

TEST_F(PromisesTest, AKillAsksNoScheduler) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {}, {ids[0]});
  story.say(KillInstance{0, "root", ids[0], "now"});
  EXPECT_TRUE(story.ends(ids[0]));
}

TEST_F(PromisesTest, ADrainWaitsForTheScheduler) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {}, {ids[0]});
  story.say(SetIdleBehavior{0, "root", ids[0], model::IdleBehavior::kDrain});
  story.keep(5min, 0, {}, {ids[0]});
  EXPECT_FALSE(story.ends(ids[0]));
  story.push(0, {ids[0]});
  story.pass(30s);
  EXPECT_FALSE(story.ends(ids[0])) << "its scheduler has not been told";
  story.push(0, {ids[0]});
  story.pass(30s);
  story.push(0, {ids[0]});
  story.pass(10s);
  EXPECT_TRUE(story.ends(ids[0]));
}

// A push comes between the plan that empties an abandoned pool and its application.
TEST_F(PromisesTest, APushSavesTheBusyHostsOfAPoolThatWasAbandoned) {
  auto site = pushed_site();
  site.pools[0].pushed->abandoned_after = 2h;
  begin(site);
  const auto ids = story.made(1);
  story.push(0, {}, ids);
  story.plans_wait = true;
  story.pass(2h);
  ASSERT_TRUE(story.plan);
  auto plan = *std::exchange(story.plan, std::nullopt);
  ASSERT_THAT(plan.plan.shutdowns, SizeIs(1));
  (void)story.push(0, {}, ids);
  story.plans_wait = false;
  story.say(std::move(plan));
  EXPECT_FALSE(story.ends(ids[0]));
}

// What was promised of the agent under its name before says nothing of the one after.
TEST_F(PromisesTest, AnotherNameNeedsAnotherAcknowledgement) {
  auto site = pushed_site();
  site.pools[0].pushed->agent_name = model::AgentName::kAddress;
  begin(site);
  const auto ids = story.made(1);
  const auto say = [&](const std::string& name) {
    auto push = story.next(0, {});
    push.agents = {{name, true}};
    const auto answer = story.say_push(push);
    EXPECT_TRUE(answer);
    story.seen_ = answer->answer;
    return answer->going;
  };
  say("10.0.0.1");
  for (int i = 0; i < 20 && say("10.0.0.1").empty(); ++i) story.pass(30s);
  auto moved = story.seen(ids[0]);
  moved.address = "10.0.0.9";
  story.list({moved});
  story.plans_wait = true;
  EXPECT_THAT(say("10.0.0.9"), ElementsAre("10.0.0.9"));
  EXPECT_FALSE(
      story.dispatcher.queries().scaling_info("default", story.now)->instances[0].is_acknowledged);
}

TEST_F(PromisesTest, AHostThatIsEndingIsNamedUntilItIsGoneAlsoAfterARestart) {
  begin();
  const auto ids = story.made(1);
  story.push(0, ids);
  story.say(KillInstance{0, "root", ids[0], "now"});
  ASSERT_TRUE(story.ends(ids[0]));
  EXPECT_THAT(story.push(0, ids).going, ElementsAre(ids[0].text()));
  restart(rows(ids));
  EXPECT_THAT(story.push(0, ids).going, ElementsAre(ids[0].text()));
}

}  // namespace
}  // namespace hostler::dispatch
