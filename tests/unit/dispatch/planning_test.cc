#include "tests/unit/dispatch/story.h"

#include "core/fleet/instance.h"

/// Plans meet a world that has moved on; people and policies have the last word.
namespace hostler::dispatch {
namespace {

using model::Reason;
using testing::IsEmpty;
using testing::SizeIs;

class PlanTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }

  /// A plan that wants a host gone, as the dispatcher's next answer.
  void plan_to_end(InstanceId id, Reason code) {
    story.plans_wait = true;
    story.plan.reset();
    story.say(SetOpened{"west", model::SetInfo{}});  // Makes a new plan worth making.
    story.pass(1min);
    ASSERT_TRUE(story.plan);
    story.plan->plan = {};
    story.plan->plan.shutdowns.push_back({id, code, "the plan says so"});
  }
  InstanceId idle_host() {
    const auto [id, on] = story.running();
    story.exited(on, id);
    EXPECT_EQ(story.state(on), InstanceState::kIdle);
    return on;
  }

  Story story;
};

TEST_F(PlanTest, AnIdleHostEndsAtItsTimeout) {
  const auto on = idle_host();
  story.pass(59s);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
  story.pass(2s);
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kIdle);
}

TEST_F(PlanTest, WakesForWhatTimeAloneBrings) {
  const auto on = idle_host();
  for (int n = 0; n < 1000 && story.state(on) == InstanceState::kIdle; ++n) {
    const Mono next = story.dispatcher.next_wake();
    ASSERT_NE(next, fleet::kNever);
    story.pass(std::max<Duration>(next - story.now.mono, 0s));
  }
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

// Bug: it was planned anew every second, and at each list, for as long as it stayed.
TEST_F(PlanTest, AnIdleHostThatIsKeptIsNoReasonForMorePlans) {
  auto site = small_site();
  site.pools[0].sizes.min = 1;
  Story other(site);
  other.begin();
  const InstanceId on = other.all<CreateCall>().at(0).instance;
  other.boot(on);
  other.pass(2min);
  other.clear();
  for (int n = 0; n < 10; ++n) {
    other.list({other.seen(on)});
    other.pass(1min);
  }
  EXPECT_EQ(other.state(on), InstanceState::kIdle);
  EXPECT_THAT(other.all<MakePlan>(), IsEmpty());
}

TEST_F(PlanTest, WhatAPlanDoesIsNoReasonForAnother) {
  (void)idle_host();
  story.clear();
  (void)story.submit({story.job(2), story.job(2)});
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_THAT(story.all<MakePlan>(), SizeIs(1));
}

TEST_F(PlanTest, RoomThatIsFilledAsItComesIsNoReasonForAPlan) {
  const auto first = story.submit({story.job(1), story.job(1)}).at(0);
  const auto creates = story.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(1)) << "both fit";
  story.boot(creates[0].instance);
  story.clear();
  story.exited(creates[0].instance, first);
  EXPECT_THAT(story.all<MakePlan>(), IsEmpty());
}

TEST_F(PlanTest, AHostIsNeverEndedAsWorkLandsOnIt) {
  for (const auto code :
       {Reason::kIdle, Reason::kDrained, Reason::kBootingSurplus, Reason::kBeyondMax,
        Reason::kOffMenu, Reason::kGaveWay, Reason::kExchanged, Reason::kAbovePriceLimit}) {
    story = Story();
    story.begin();
    const auto on = idle_host();
    plan_to_end(on, code);
    const auto plan = *story.plan;
    (void)story.submit({story.job(2)});
    story.ready(on);  // Filled at once.
    ASSERT_THAT(story.dispatcher.queries().instances()[0].attempts, SizeIs(1));
    story.say(plan);
    EXPECT_EQ(story.state(on), InstanceState::kBusy) << to_string(code);
  }
}

TEST_F(PlanTest, NorAsDrainedWhileWorkRunsOnIt) {
  const auto [id, on] = story.running();
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kDrain});
  plan_to_end(on, Reason::kDrained);
  story.say(*story.plan);
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(story.record(id).state, WorkState::kRunning);
}

TEST_F(PlanTest, NorWhenItWasHeldMeanwhile) {
  const auto on = idle_host();
  plan_to_end(on, Reason::kIdle);
  const auto plan = *story.plan;
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  story.say(plan);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

// Bug: a host that was reachable again before the plan came was destroyed with all that ran on it.
TEST_F(PlanTest, NorForBeingUnreachableWhenItIsBack) {
  const auto [id, on] = story.running();
  story.host(on, model::HostLost{"no route"});
  plan_to_end(on, Reason::kUnreachable);
  const auto plan = *story.plan;
  story.ready(on, {{{id, 1}, model::AttemptPhase::kRunning}});
  story.say(plan);
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(story.record(id).state, WorkState::kRunning);
}

// Bug: it was ended though it had just worked: the idle clock starts when the host becomes idle.
TEST_F(PlanTest, NorForBeingIdleWhenItHasWorkedSince) {
  const auto on = idle_host();
  plan_to_end(on, Reason::kIdle);
  const auto plan = *story.plan;
  const auto id = story.submit({story.job(2)}).at(0);
  story.ready(on);
  story.exited(on, id);
  ASSERT_EQ(story.state(on), InstanceState::kIdle);
  story.say(plan);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

// Bug: what was drained, surplus or unwanted when the plan was made was ended though it had become
// wanted or useful meanwhile.
TEST_F(PlanTest, NorForWhatWasSoWhenThePlanWasMade) {
  for (const auto code :
       {Reason::kDrained, Reason::kBootingSurplus, Reason::kUnwantedSpot, Reason::kFailed}) {
    story = Story();
    story.begin();
    const auto on = idle_host();
    plan_to_end(on, code);
    story.say(*story.plan);
    EXPECT_EQ(story.state(on), InstanceState::kIdle) << to_string(code);
  }
}

TEST_F(PlanTest, AnOlderPlanIsIgnored) {
  const auto on = idle_host();
  plan_to_end(on, Reason::kIdle);
  auto old = *story.plan;
  --old.number;
  story.say(old);
  EXPECT_EQ(story.state(on), InstanceState::kIdle);
}

TEST_F(PlanTest, TheGovernorRefusesWhoeverAsks) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  Story other(site);
  other.begin();
  other.plans_wait = true;
  (void)other.submit({other.job(2), other.job(2)});
  ASSERT_TRUE(other.plan);
  auto plan = *other.plan;
  ASSERT_THAT(plan.plan.creates, SizeIs(1));
  plan.plan.creates.push_back(plan.plan.creates[0]);
  other.say(plan);
  EXPECT_THAT(other.all<CreateCall>(), SizeIs(1));
}

// Bug: every second plan was told that it may destroy nothing.
TEST_F(PlanTest, EveryPlanMayDestroyAsManyAsTheCeilingSays) {
  auto site = small_site();
  site.ceilings.destroys_per_decision_max = 1;
  Story other(site);
  other.begin();
  const auto ids = other.submit({other.job(2), other.job(2)});
  for (const std::uint64_t n : {1U, 2U}) other.boot(InstanceId{n});
  for (const std::uint64_t n : {1U, 2U}) other.exited(InstanceId{n}, ids[n - 1]);
  other.pass(61s);
  EXPECT_EQ(other.state(InstanceId{1}), InstanceState::kTerminating);
  EXPECT_EQ(other.state(InstanceId{2}), InstanceState::kIdle);
  other.pass(site.plan_interval);
  EXPECT_EQ(other.state(InstanceId{2}), InstanceState::kTerminating);
}

// Bug: nobody looked again until something else happened.
TEST_F(PlanTest, AMinimumThatTheRateHeldUpIsMadeUpForInItsTime) {
  auto site = small_site();
  site.pools[0].sizes.min = 2;
  site.ceilings.creates_per_minute_max = 1;
  Story other(site);
  other.begin();
  EXPECT_THAT(other.all<CreateCall>(), SizeIs(1));
  EXPECT_LE(other.dispatcher.next_wake(), other.now.mono + 1min);
  other.pass(1min);
  EXPECT_THAT(other.all<CreateCall>(), SizeIs(2));
}

// Bug: the planner never heard of the limit, and put all on the first host, which took one.
TEST_F(PlanTest, AttemptsParallelMaxSpreadsTheWork) {
  auto site = small_site();
  site.pools[0].attempts_parallel_max = 1;
  Story other(site);
  other.begin();
  (void)other.submit({other.job(), other.job(), other.job()});
  const auto creates = other.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(3));
  for (const auto& call : creates) other.boot(call.instance);
  EXPECT_THAT(other.commands<model::StartAttempt>(), SizeIs(3));
}

// Bug: every reload allowed a whole minute's creates again.
TEST_F(PlanTest, AReloadDoesNotForgetTheCreatesOfTheLastMinute) {
  auto site = small_site();
  site.ceilings.creates_per_minute_max = 1;
  Story other(site);
  other.begin();
  (void)other.submit({other.job(2)});
  ASSERT_THAT(other.all<CreateCall>(), SizeIs(1));
  other.say(PolicyChanged{site});
  (void)other.submit({other.job(2)});
  EXPECT_THAT(other.all<CreateCall>(), SizeIs(1));
}

TEST_F(PlanTest, OneGrowthIsNotPlannedTwice) {
  (void)story.submit({story.job(2), story.job(2)});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(2));
  story.pass(5min);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(2)) << "they are still coming";
}

// Bug: a host's age was that of its state, so of two the one that had come further was ended.
TEST_F(PlanTest, OfTwoSurplusHostsTheYoungerGoes) {
  const auto first = story.submit({story.job(2)}).at(0);
  (void)story.submit({story.job(2)});
  story.say(CreateSeen{InstanceId{1}, story.seen({1})});
  (void)story.ask(CancelWork{0, "user ann", false, first});
  EXPECT_EQ(story.state(InstanceId{1}), InstanceState::kBooting);
  EXPECT_EQ(story.state(InstanceId{2}), InstanceState::kTerminating);
}

// Bug: nobody looked until something else happened, and a spot request may never be fulfilled.
TEST_F(PlanTest, AHostThatComesForACancelledJobIsGivenUpAtOnce) {
  const auto id = story.submit({story.job(2)}).at(0);
  (void)story.ask(CancelWork{0, "user ann", false, id});
  EXPECT_EQ(story.state(InstanceId{1}), InstanceState::kTerminating);
}

TEST_F(PlanTest, HoldDrainAndRunAreObeyedAndTagged) {
  const auto on = idle_host();
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  const auto tags = story.all<TagsCall>();
  ASSERT_THAT(tags, SizeIs(1));
  EXPECT_EQ(tags[0].request.set, (model::Tags{{"hostler-idle", "hold"}}));
  story.pass(24h);
  EXPECT_EQ(story.state(on), InstanceState::kIdle) << "never shut down";
  story.clear();
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty()) << "nor given work";
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "nor counted on";

  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kRun});
  EXPECT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kDrain});
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
}

TEST_F(PlanTest, AnAdminMayKillWhatIsHeld) {
  const auto on = idle_host();
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kHold});
  EXPECT_TRUE(story.ask(KillInstance{0, "user root", on, "broken fan"}));
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason, "by user root: broken fan");
}

// Bug: a hold that came too late was answered as if it kept the instance.
TEST_F(PlanTest, WhatIsBeingDestroyedIsNotToBeHeldAnyMore) {
  const auto on = idle_host();
  ASSERT_TRUE(story.ask(KillInstance{0, "user root", on, "broken fan"}));
  for (const auto behavior :
       {model::IdleBehavior::kHold, model::IdleBehavior::kDrain, model::IdleBehavior::kRun}) {
    const auto answer = story.ask(SetIdleBehavior{0, "user root", on, behavior});
    ASSERT_FALSE(answer) << to_string(behavior);
    EXPECT_EQ(answer.error().code, Errc::kConflict);
    EXPECT_EQ(answer.error().message, "h-1 is terminating: by user root: broken fan");
  }
  EXPECT_EQ(story.record(on).idle_behavior, model::IdleBehavior::kRun);
}

TEST_F(PlanTest, WhatIsNotThereIsNotFound) {
  for (const auto& event : std::vector<Event>{
           KillInstance{0, "user root", InstanceId{404}, ""},
           SetIdleBehavior{0, "user root", InstanceId{404}, model::IdleBehavior::kHold}}) {
    const auto answer = story.ask(event);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::kNotFound);
    EXPECT_EQ(answer.error().message, "no instance h-404");
  }
}

// Bug: hosts kept their types by number, and a reload may move or remove them.
TEST_F(PlanTest, AHostKeepsItsTypeThroughAReload) {
  const auto on = idle_host();
  auto site = small_site();
  std::swap(site.types[0], site.types[1]);
  story.say(PolicyChanged{site});
  EXPECT_EQ(story.dispatcher.queries().instances()[0].total.vcpus, 2);

  site.types = {site.types[0]};
  site.pools[0].types = {"large"};
  story.say(PolicyChanged{site});
  story.clear();
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty()) << "what it has is not known";
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  story.pass(2min);
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
}

// Bug: its offerings were looked up in the new menu.
TEST_F(PlanTest, APlanOfTheOldPolicyIsIgnoredAndMadeAnew) {
  story.plans_wait = true;
  (void)story.submit({story.job(2)});
  const auto old = *story.plan;
  auto site = small_site();
  std::swap(site.types[0], site.types[1]);
  story.plans_wait = false;
  story.say(PolicyChanged{site});
  story.say(old);
  const auto calls = story.all<CreateCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].request->type.name, "small");
}

}  // namespace
}  // namespace hostler::dispatch
