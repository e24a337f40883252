#include "tests/unit/dispatch/pushed.h"

/// Pools that outside schedulers size, through the dispatcher.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(PushesTest, TasksGetHostsAndAListedAgentMakesThemReady) {
  begin();
  const auto ids = story.made(2);
  ASSERT_THAT(ids, SizeIs(2));
  EXPECT_THAT(story.push(0, {ids[0]}, {ids[1]}).unknown_agents, IsEmpty());
  EXPECT_EQ(story.state(ids[0]), InstanceState::kIdle);
  EXPECT_EQ(story.record(ids[1]).agent, model::AgentReport::kBusy);
}

TEST_F(PushesTest, ComingHostsTakeTheTasksThatArePushedAgain) {
  begin();
  (void)story.made(2);
  story.clear();
  story.keep(5min, 2, {});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

TEST_F(PushesTest, W1_ACloudThatDoesNotAnswerDelaysNoPush) {  // 5.3.1
  begin();
  story.clear();
  story.push(2, {});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(2)) << "neither is answered";
  const auto answer = story.push(2, {}).answer;
  EXPECT_EQ(story.push(2, {}).answer, answer + 1);
}

TEST_F(PushesTest, BadPushesAreRefused) {
  begin();
  auto push = story.next(0, {});
  story.say(PushReceived{7, "token scaler", "none", push});
  EXPECT_EQ(story.all<PushReply>().back().result.error().code, Errc::kNotFound);
  story = PushedStory(small_site());
  story.begin();
  const auto refused = story.say_push(push);
  EXPECT_EQ(refused.error().code, Errc::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr("pools[].pushed"));
}

TEST_F(PushesTest, AnotherPrincipalWaitsForTheEndOfTheTerm) {
  begin();
  story.push(0, {});
  const auto refused = story.say_push(story.next(0, {}), "token other");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("pusher_changed")));
  EXPECT_THAT(story.journalled<model::PusherRecord>(), SizeIs(1));
}

TEST_F(PushesTest, ASupersededSessionStaysSoOverARestart) {
  begin();
  story.push(0, {});
  story.session = "s-2";
  story.push(0, {});
  model::Restored restored;
  restored.pushers = {story.journalled<model::PusherRecord>().back()};
  restart(restored);
  const auto refused = story.say_push(story.next(0, {}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("superseded"));
}

TEST_F(PushesTest, UnknownAgentsAreToldAndNeverActedOn) {
  begin();
  const auto ids = story.made(1);
  auto push = story.next(0, {ids[0]});
  push.agents.push_back({"h-99", false});
  push.agents.push_back({std::string("\x1b[31m", 5), false});
  const auto answer = story.say_push(push);
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->unknown_agents, ElementsAre("h-99", "\x1b[31m"));
}

TEST_F(PushesTest, ATaskThatNeverFitsIsToldWithWhatWould) {
  begin();
  auto push = story.next(0, {});
  push.tasks = {{.id = "t9", .slots = 12, .group = {}}};
  const auto answer = story.say_push(push);
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->never_fits,
              ElementsAre(model::NeverFits{.id = "t9", .slots_that_would_do = {8, 16}}));
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

// 5.3.2: a host on which the scheduler has just placed work was ended.
TEST_F(PushesTest, WithoutAPushOnlyTheMinimumIsCreated) {
  auto site = pushed_site();
  site.pools[0].sizes.min = 1;
  begin(site);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_THAT(story.conditions(), Contains(HasSubstr("no push since the start")));
}

TEST_F(PushesTest, AnEmptyListOfAgentsShrinksNothingBeforeItsTime) {
  begin();
  const auto ids = story.made(2);
  story.keep(30min, 0, {}, ids);
  story.keep(270s, 0, {});
  for (const auto id : ids) EXPECT_FALSE(story.ends(id));
  story.keep(1min, 0, {}, ids);
  for (const auto id : ids) EXPECT_EQ(story.record(id).agent, model::AgentReport::kBusy);
}

TEST_F(PushesTest, HalfOfTheAgentsMayVanishAtOnceAndComeBack) {
  begin();
  const auto ids = story.made(4);
  story.keep(25min, 0, {}, ids);
  story.keep(9min, 0, {}, {ids[0], ids[1]});
  for (const auto id : ids) EXPECT_FALSE(story.ends(id));
  story.keep(20min, 0, {}, ids);
  for (const auto id : ids) EXPECT_FALSE(story.ends(id));
}

TEST_F(PushesTest, AHostWithoutAgentForLongGoes) {
  begin();
  const auto ids = story.made(1);
  story.keep(25min, 0, {}, ids);
  story.keep(12min, 0, {});
  EXPECT_TRUE(story.ends(ids[0]));
}

TEST_F(PushesTest, AHostThatWasNeverReportedAlarmsOnceAndGoes) {
  auto site = pushed_site();
  site.pools[0].boot_timeout = 10h;
  begin(site);
  const auto ids = story.made(1);
  story.clear();
  story.keep(21min, 1, {});
  EXPECT_THAT(story.ledger(), Contains(HasSubstr("agent_never_came")).Times(1));
  EXPECT_THAT(story.conditions(), Contains(HasSubstr("no push has listed the agents of h-1")));
  story.keep(11min, 1, {});
  EXPECT_TRUE(story.ends(ids[0]));
}

TEST_F(PushesTest, ARestartForgetsAcknowledgementsAndKeepsTimes) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  story.keep(4min, 0, {ids[0]});
  const auto before = story.seen_;
  restart(rows(ids));
  story.list({story.seen(ids[0])});
  story.seen_ = before;
  story.push(0, {ids[0]});
  story.pass(50s);
  story.push(0, {ids[0]});
  story.pass(50s);
  story.seen_ = before;
  const auto answer = story.push(0, {ids[0]});
  EXPECT_THAT(answer.going, ElementsAre(ids[0].text())) << "idle for 5 minutes, restart included";
  EXPECT_FALSE(story.ends(ids[0])) << "what was seen before the restart acknowledges nothing";
  story.push(0, {ids[0]});
  EXPECT_TRUE(story.ends(ids[0]));
}

TEST_F(PushesTest, ARestoredHostStaysUntilAPushListsIt) {
  begin();
  const auto ids = story.made(1);
  story.push(0, {ids[0]});
  auto restored = rows(ids);
  restored.instances[0].record.restored = true;
  restored.instances[0].record.agent_since = {1};
  restart(restored);
  story.list({story.seen(ids[0])});
  story.keep(1h, 0, {});
  EXPECT_FALSE(story.ends(ids[0]));
  story.push(0, {ids[0]});
  EXPECT_FALSE(story.record(ids[0]).restored);
}

TEST_F(PushesTest, AClockThatIsSetEndsNoHost) {
  begin();
  const auto ids = story.made(2);
  story.push(0, {ids[0]}, {ids[1]});
  for (const Duration step : {Duration(24h), Duration(-48h)}) {
    story.now.wall = story.now.wall + step;
    story.keep(1min, 0, {ids[0]}, {ids[1]});
    EXPECT_FALSE(story.ends(ids[0]));
  }
}

TEST_F(PushesTest, ReportsOfReadinessAreRefusedInFavourOfPushes) {
  begin();
  const auto ids = story.made(1);
  const auto answer = story.ask(ReportReady{0, "token ci", ids[0]});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("push"));
}

TEST_F(PushesTest, AgentsAreFoundByTheirCloudIdOrAddress) {
  for (const auto& [name, text] : {std::pair(model::AgentName::kCloudId, "i-1"),
                                   std::pair(model::AgentName::kAddress, "10.0.0.1")}) {
    auto site = pushed_site();
    site.pools[0].pushed->agent_name = name;
    begin(site);
    const auto ids = story.made(1);
    auto push = story.next(0, {});
    push.agents = {{text, false}};
    ASSERT_TRUE(story.say_push(push));
    EXPECT_EQ(story.record(ids[0]).agent, model::AgentReport::kBusy) << text;
  }
}

TEST_F(PushesTest, ScalingInfoShowsWhatIsKnown) {
  begin();
  const auto ids = story.made(2);
  story.push(1, {}, {ids[0]});
  const auto info = story.dispatcher.queries().scaling_info("default", story.now);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->pusher.principal, "token scaler");
  EXPECT_THAT(info->slots_per_instance, ElementsAre(8));
  EXPECT_EQ(info->current_slots, 16);
  ASSERT_THAT(info->instances, SizeIs(2));
  EXPECT_EQ(info->instances[0].state, "busy");
  EXPECT_EQ(info->instances[1].state, "coming");
  EXPECT_EQ(story.dispatcher.queries().scaling_info("none", story.now).error().code,
            Errc::kNotFound);
}

// With a name that only the journal before knew, its agent would be called unknown, and it would
// end with what runs there.
TEST_F(PushesTest, AnAdoptedHostIsHeld) {
  begin();
  story.push(0, {});
  model::ListedInstance one;
  one.id = "own-1";
  one.idempotency_key = "key-of-own-1";
  one.set_id = "west";
  one.owner = "us";
  one.type = "small";
  one.pool = "default";
  one.state = model::CloudState::kRunning;
  story.list({one});
  story.pass(1s);
  const auto hosts = story.dispatcher.queries().instances();
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].record.idle_behavior, model::IdleBehavior::kHold);
}

TEST_F(PushesTest, BusyHostsAreHeldWhenTheirPoolIsPushedNoMore) {
  begin();
  const auto ids = story.made(2);
  story.push(0, {ids[0]}, {ids[1]});
  auto site = pushed_site();
  site.pools[0].pushed.reset();
  story.say(PolicyChanged{site});
  EXPECT_EQ(story.record(ids[0]).idle_behavior, model::IdleBehavior::kRun);
  EXPECT_EQ(story.record(ids[1]).idle_behavior, model::IdleBehavior::kHold);
  EXPECT_EQ(story.record(ids[1]).agent, model::AgentReport::kNone);
}

TEST_F(PushesTest, NoAnswerOfAPoolIsNumberedAsOneBeforeItWasPushedNoMore) {
  begin();
  const auto ids = story.made(1);
  const auto last = story.push(0, ids).answer;
  auto plain = pushed_site();
  plain.pools[0].pushed.reset();
  plain.pools[0].readiness = model::Readiness::kAgent;
  story.say(PolicyChanged{plain});
  story.say(PolicyChanged{pushed_site()});
  EXPECT_GT(story.push(0, ids).answer, last);
}

TEST_F(PushesTest, APusherThatSendsNoSeenIsAnAlarm) {
  begin();
  const auto ids = story.made(1);
  const auto push = [&](Duration for_so_long) {
    for (Duration passed{}; passed < for_so_long; passed += 30s) {
      story.pass(30s);
      story.seen_ = 0;
      story.push(0, ids);
    }
  };
  push(7min);
  EXPECT_THAT(story.conditions(), IsEmpty());
  push(5min);
  EXPECT_THAT(story.conditions(), ElementsAre(HasSubstr("`seen`")));
  EXPECT_FALSE(story.ends(ids[0]));
}

TEST_F(PushesTest, ALaunchErrorStaysUntilACreateIsAccepted) {  // 5.3.6
  begin();
  story.clear();
  story.push(1, {});
  const auto since = story.now.wall;
  const auto launch_error = [&] {
    return story.dispatcher.queries().scaling_info("default", story.now)->launch_error;
  };
  for (std::uint32_t refusals = 1; refusals < 4; ++refusals) {
    const auto calls = story.all<CreateCall>();
    ASSERT_THAT(calls, SizeIs(refusals));
    auto no_room = error(CloudErrorClass::kCapacity);
    no_room.message = "no room";
    story.create_ended(calls.back().instance, no_room);
    ASSERT_TRUE(launch_error());
    EXPECT_EQ(launch_error()->since, since);
    EXPECT_EQ(launch_error()->refusals, refusals);
    EXPECT_THAT(launch_error()->message, HasSubstr("no room"));
    for (int i = 0; i < 60 && story.all<CreateCall>().size() == refusals; ++i) {
      story.pass(30s);
      story.push(1, {});
    }
    EXPECT_TRUE(launch_error()) << "the next try is under way";
  }
}

TEST_F(PushesTest, WhyOfThePoolNamesTheTasksThatWait) {
  auto site = pushed_site();
  site.pools[0].sizes.max = 1;
  begin(site);
  (void)story.made(1);
  story.push(3, {});
  story.pass(10s);
  const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);
  ASSERT_TRUE(why);
  ASSERT_THAT(why->demand, SizeIs(1));
  EXPECT_EQ(why->demand[0].tasks, 3U);
  EXPECT_THAT(why->demand[0].waiting.reason, HasSubstr("tasks of 8 slots wait"));
}

TEST_F(PushesTest, APoolThatIsPushedNoMoreForgetsItsTasks) {
  begin();
  (void)story.made(1);
  auto site = pushed_site();
  site.pools[0].pushed.reset();
  story.clear();
  story.say(PolicyChanged{site});
  EXPECT_THAT(story.say_push(story.next(0, {})).error().message, HasSubstr("pools[].pushed"));
  story.pass(10s);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

}  // namespace
}  // namespace hostler::dispatch
