#include <algorithm>

#include "tests/unit/dispatch/story.h"

/// Hosts that are switched off as standby, and woken.
namespace hostler::dispatch {
namespace {

using model::CloudState;
using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

model::SitePolicy site_with_standby() {
  auto out = small_site();
  out.pools[0].sizes.stopped = 1;
  out.pools[0].types = {"small"};
  return out;
}

class SwitchedOffTest : public testing::Test {
 protected:
  SwitchedOffTest() : story(site_with_standby()) {}
  void SetUp() override {
    story.restore();
    story.say(SetOpened{"west", with_power()});
  }

  static model::SetInfo with_power() {
    model::SetInfo info;
    info.stop = info.has_power = true;
    return info;
  }
  /// No host is made to be switched off while another one runs: it would be woken by none.
  void allow_one_host(std::vector<std::string> types = {"small"}) {
    auto site = site_with_standby();
    site.pools[0].sizes.max = 1;
    site.pools[0].types = std::move(types);
    site.pools[0].price_factor_max = 10;
    story = Story(site);
    SetUp();
  }
  InstanceId idle_host() {
    const auto [id, on] = story.running();
    story.exited(on, id);
    return on;
  }
  /// Idle until its time, switched off, and shown so by a list.
  InstanceId standby() {
    const auto on = idle_host();
    story.pass(61s);
    EXPECT_EQ(story.state(on), InstanceState::kStopped);
    story.say(PowerEnded{on, {}});
    story.list(everything(CloudState::kStopped, on));
    story.clear();
    return on;
  }
  /// A list of all that is known, `one` of it in a state of its own.
  std::vector<model::ListedInstance> everything(CloudState state, InstanceId one) {
    std::vector<model::ListedInstance> out;
    for (const auto& view : story.dispatcher.queries().instances())
      if (!view.record.provider_id.empty())
        out.push_back(
            story.seen(view.record.id, view.record.id == one ? state : CloudState::kRunning));
    return out;
  }

  Story story;
};

TEST_F(SwitchedOffTest, AnIdleHostIsStoppedInsteadOfDestroyed) {
  const auto on = idle_host();
  story.clear();
  story.pass(61s);

  const auto calls = story.all<PowerCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_FALSE(calls[0].on);
  EXPECT_EQ(calls[0].request.id, "i-" + std::to_string(on.value));
  EXPECT_EQ(story.state(on), InstanceState::kStopped) << "the intent stands before the call";
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_THAT(story.commands<model::DisconnectHost>(),
              Contains(Field(&model::DisconnectHost::instance, on)));
}

TEST_F(SwitchedOffTest, WaitingWorkWakesItAndRunsThere) {
  allow_one_host();
  const auto on = standby();
  const auto id = story.submit({story.job(2)}).at(0);

  const auto calls = story.all<PowerCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_TRUE(calls[0].on);
  EXPECT_EQ(story.state(on), InstanceState::kBooting);
  story.say(PowerEnded{on, {}});
  story.list(everything(CloudState::kRunning, on));
  story.host(on, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(on, {}, "boot-2");
  const auto starts = story.commands<model::StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].instance, on);
  EXPECT_EQ(starts[0].boot_id, "boot-2");
  EXPECT_EQ(story.record(id).state, WorkState::kStarting);
}

// Bug: of pools that share a set and a type, the first one's cap held for the hosts of all.
TEST_F(SwitchedOffTest, IsJudgedByTheCapOfItsOwnPool) {
  auto site = site_with_standby();
  site.pools[0].sizes.max = 1;
  site.pools.push_back(site.pools[0]);
  site.pools[0].name = "a frugal one";
  site.pools[0].sizes.stopped = 0;
  site.pools[0].price_cap_per_hour = {10};
  story = Story(site);
  SetUp();
  const auto on = standby();
  (void)story.submit({story.job(2)});
  EXPECT_EQ(story.state(on), InstanceState::kBooting);
}

TEST_F(SwitchedOffTest, WorkThatLandsMeanwhileKeepsItOn) {
  const auto on = idle_host();
  story.plans_wait = true;
  story.pass(61s);
  ASSERT_TRUE(story.plan);
  ASSERT_THAT(story.plan->plan.switch_offs, SizeIs(1));
  story.clear();
  story.submit({story.job(2)});
  story.host(on, model::HostReady{"boot-1", 99, 0, {}});
  const auto plan = *story.plan;
  story.plans_wait = false;
  story.say(plan);
  EXPECT_THAT(story.all<PowerCall>(), IsEmpty());
}

TEST_F(SwitchedOffTest, AClosedStartGateMakesANewHostInstead) {
  allow_one_host({"small", "large"});
  const auto on = standby();
  story.submit({story.job(2)});
  story.say(PowerEnded{on, error(CloudErrorClass::kCapacity)});

  EXPECT_EQ(story.state(on), InstanceState::kStopped);
  EXPECT_THAT(story.all<PowerCall>(), SizeIs(1)) << "not asked again while the gate is shut";
  EXPECT_GE(story.all<CreateCall>().size(), 1U);
}

// Bug: where the cloud does not stop a type, standby of it was made, booted and destroyed without
// end.
TEST_F(SwitchedOffTest, StandbyIsNotMadeOfATypeThatTheCloudRefusedToStop) {
  for (const auto cls : {CloudErrorClass::kUnsupported, CloudErrorClass::kInvalid}) {
    Story fresh(site_with_standby());
    fresh.restore();
    fresh.say(SetOpened{"west", with_power()});
    for (int n = 0; n < 3; ++n) {
      const auto creates = fresh.all<CreateCall>();
      fresh.clear();
      for (const auto& call : creates) fresh.boot(call.instance);
      fresh.pass(61s);
      for (const auto& call : fresh.all<PowerCall>())
        fresh.say(PowerEnded{call.instance, error(cls)});
      const auto told = fresh.ledger();
      EXPECT_EQ(std::ranges::count(told, "set west cannot_stop small"), n == 0 ? 1 : 0);
      for (const auto& call : fresh.all<DestroyCall>()) fresh.say(DestroyEnded{call.instance, {}});
      fresh.list({});
      fresh.list({});
    }
    EXPECT_TRUE(fresh.dispatcher.queries().at_rest());
    EXPECT_THAT(fresh.all<CreateCall>(), IsEmpty());

    fresh.say(PolicyChanged{site_with_standby()});
    EXPECT_THAT(fresh.all<CreateCall>(), SizeIs(1)) << "the admin may have made it possible";
  }
}

TEST_F(SwitchedOffTest, TheOrderIsGivenAgainAfterARestart) {
  const auto on = idle_host();
  story.pass(61s);
  const auto record = story.record(on);
  ASSERT_EQ(record.state, InstanceState::kStopped);

  Story next(site_with_standby());
  model::Restored restored;
  restored.instances.push_back({record, nullptr, false});
  restored.last_instance = on.value;
  next.restore(std::move(restored));
  next.say(SetOpened{"west", with_power()});
  next.pass(1s);
  auto seen = next.seen(on);
  next.list({seen});

  ASSERT_THAT(next.all<PowerCall>(), SizeIs(1));
  EXPECT_FALSE(next.all<PowerCall>()[0].on);
  EXPECT_THAT(next.all<DestroyCall>(), IsEmpty());
}

TEST_F(SwitchedOffTest, NothingIsJudgedBeforeItsCloudIsOpen) {
  const auto on = standby();
  Story next(site_with_standby());
  model::Restored restored;
  restored.instances.push_back({story.record(on), nullptr, false});
  restored.last_instance = on.value;
  next.restore(std::move(restored));
  next.pass(1min);
  EXPECT_EQ(next.state(on), InstanceState::kStopped);
  EXPECT_THAT(next.all<DestroyCall>(), IsEmpty());
}

TEST_F(SwitchedOffTest, AHeldOneSleepsOn) {
  const auto on = standby();
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "admin", on, model::IdleBehavior::kHold}));
  story.submit({story.job(2)});
  EXPECT_THAT(story.all<PowerCall>(), IsEmpty());
  EXPECT_EQ(story.state(on), InstanceState::kStopped);
}

// Bug: the planner did not count it and kept the next idle host to be switched off; whoever carried
// that out did count it and refused. The host stayed idle, and was paid for.
TEST_F(SwitchedOffTest, AHeldOneLeavesRoomForAnother) {
  const auto held = standby();
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "admin", held, model::IdleBehavior::kHold}));
  const auto next = idle_host();
  story.pass(61s);
  EXPECT_EQ(story.state(next), InstanceState::kStopped);
}

TEST_F(SwitchedOffTest, OneThatIsOffGivesUpItsPlaceBelowTheMaximumAtOnce) {
  auto site = site_with_standby();
  site.pools[0].sizes.max = 1;
  site.pools[0].types = {"small", "large"};
  story = Story(site);
  SetUp();
  const auto on = idle_host();
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1)) << "the maximum is reached";
  story.pass(61s);
  EXPECT_EQ(story.state(on), InstanceState::kStopped);
  story.submit({story.job(8)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(2)) << "though no call has been answered";
}

TEST_F(SwitchedOffTest, ASmallerNumberEndsTheRest) {
  const auto on = standby();
  auto policy = site_with_standby();
  policy.pools[0].sizes.stopped = 0;
  story.say(PolicyChanged{policy});
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kStandbySurplus);
}

}  // namespace
}  // namespace hostler::dispatch
