#include "tests/unit/dispatch/story.h"

/// Many hosts that become unreachable at once.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

class ReachabilityTest : public testing::Test {
 protected:
  std::vector<InstanceId> start(std::size_t n) {
    auto site = small_site();
    site.pools[0].probe_timeout = 1min;
    site.pools[0].boot_timeout = 2min;
    site.pools[0].sizes.max = 40;
    story = Story(site);
    story.begin();
    std::vector<InstanceId> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(story.running(true).second);
    story.clear();
    return out;
  }
  /// Four hosts, after a restart and twice the probe timeout without a connection.
  std::vector<InstanceId> restart_unreachable() {
    const auto hosts = start(4);
    model::Restored restored;
    restored.last_instance = 4;
    for (const auto id : hosts) {
      auto row = story.record(id);
      row.state = InstanceState::kIdle;
      restored.instances.push_back({row, nullptr, false});
    }
    auto site = small_site();
    site.pools[0].probe_timeout = 1min;
    story = Story(site);
    story.begin(restored);
    story.clear();
    story.pass(2min);
    return hosts;
  }
  void lose(const std::vector<InstanceId>& hosts) {
    for (const auto id : hosts) story.host(id, model::HostLost{"no route"});
  }
  model::SetView set() const { return story.dispatcher.queries().sets(story.now).at(0); }

  Story story;
};

TEST_F(ReachabilityTest, AJumpHostThatIsDownIsNamedAsTheCause) {
  auto site = small_site();
  site.sets[0].jump_host = "bastion:22";
  story = Story(site);
  story.begin();
  const auto reached = story.running().second;
  (void)story.submit({story.job(2)});
  const auto booting = story.all<CreateCall>().back().instance;
  const auto said = [&](const auto& view) { return testing::PrintToString(view.conditions); };
  const auto west = [&] { return story.dispatcher.queries().sets(story.now).at(0); };
  const auto host = [&](InstanceId id) {
    return *story.dispatcher.queries().instance(id, story.now);
  };
  const std::string names_it =
      "jump host bastion:22, through which its hosts are reached, cannot be";

  story.say(JumpHostChanged{"west", "connect to bastion:22: refused\n"});
  story.say(JumpHostChanged{"nowhere", "x"});

  EXPECT_THAT(said(west()), testing::HasSubstr(names_it));
  EXPECT_THAT(said(west()), testing::HasSubstr("connect to bastion:22: refused"));
  EXPECT_THAT(said(host(booting)), testing::HasSubstr(names_it));
  EXPECT_THAT(said(host(reached)), testing::Not(testing::HasSubstr(names_it)));
  lose({reached});
  EXPECT_THAT(said(host(reached)), testing::HasSubstr(names_it));

  story.say(JumpHostChanged{"west", ""});
  EXPECT_THAT(west().conditions, IsEmpty());
  EXPECT_THAT(said(host(booting)), testing::Not(testing::HasSubstr(names_it)));
}

TEST_F(ReachabilityTest, HalfOfTheHostsAtOnceAreNotEndedForSixHours) {
  const auto hosts = start(6);
  lose({hosts[0], hosts[1]});
  EXPECT_FALSE(set().partition);
  lose({hosts[2]});
  ASSERT_TRUE(set().partition);
  EXPECT_THAT(story.ledger(), Contains("set west partition"));
  story.pass(5h);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.pass(1h);
  story.pass(1s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(3));
  // Bug: it stood for ever after that, in /health too, and no other could begin.
  EXPECT_FALSE(set().partition);
}

TEST_F(ReachabilityTest, FewerAreLostOneByOne) {
  const auto hosts = start(6);
  lose({hosts[0], hosts[1]});
  story.pass(1min);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(2));
  story.pass(2min);
  lose({hosts[2]});
  EXPECT_FALSE(set().partition) << "not within one probe timeout";
}

TEST_F(ReachabilityTest, WhenOneReturnsTheOthersHaveTheirProbeTimeoutAnew) {
  const auto hosts = start(3);
  lose(hosts);
  story.pass(1h);
  story.ready(hosts[0], {{{{1}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_FALSE(set().partition);
  EXPECT_THAT(story.ledger(), Contains("set west partition_ended"));
  story.pass(50s);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.pass(11s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(2));
  EXPECT_EQ(story.state(hosts[0]), InstanceState::kBusy);
}

// Bug: the simulation found a host whose own connection broke during a partition. Its return ended
// the partition for the hosts that were still cut off.
TEST_F(ReachabilityTest, TheReturnOfAHostThatWasLostLaterSaysNothingAboutTheOthers) {
  const auto hosts = start(4);
  lose({hosts[0], hosts[1], hosts[2]});
  story.pass(1min);
  lose({hosts[3]});
  story.ready(hosts[3], {{{{4}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_TRUE(set().partition);
  story.pass(2min);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.ready(hosts[0], {{{{1}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_FALSE(set().partition);
}

TEST_F(ReachabilityTest, AnAdminMayGiveThemUp) {
  EXPECT_FALSE(story.ask(GiveUpUnreachable{0, "root", "east"}));
  const auto hosts = start(3);
  EXPECT_FALSE(story.ask(GiveUpUnreachable{0, "root", "west"})) << "nothing to give up";
  lose(hosts);
  EXPECT_TRUE(story.ask(GiveUpUnreachable{0, "root", "west"}));
  story.pass(1s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(3));
}

TEST_F(ReachabilityTest, CreatesStopAfterThreeNewHostsThatCannotBeReached) {
  const auto hosts = start(3);
  lose(hosts);
  std::size_t made = 0;
  for (int n = 0; n < 10; ++n) {
    (void)story.submit({story.job(2)});
    for (const auto& call : story.all<CreateCall>()) story.create_ended(call.instance, {});
    for (const auto& call : story.all<CreateCall>())
      story.say(CreateSeen{call.instance, story.seen(call.instance)});
    made += story.all<CreateCall>().size();
    story.clear();
    story.pass(3min);
  }
  EXPECT_LE(made, 12U);
  story.clear();
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

TEST_F(ReachabilityTest, AfterARestartHostsThatStayUnreachableTogetherAreHeldToo) {
  (void)restart_unreachable();
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  ASSERT_TRUE(set().partition);
}

// Bug: only the agent's answer counted, which comes later, when the host was not unreachable any
// more.
TEST_F(ReachabilityTest, AfterARestartAnAnswerEndsThePartitionAndTheOthersHaveTheirProbeTimeout) {
  const auto hosts = restart_unreachable();
  story.host(hosts[0], model::HostVerified{model::VerifyMethod::kChallenge,
                                           story.record(hosts[0]).identity.public_key});
  story.ready(hosts[0]);
  EXPECT_FALSE(set().partition);
  story.pass(50s);
  EXPECT_EQ(story.state(hosts[1]), InstanceState::kUnknown);
  story.pass(11s);
  for (const auto id : {hosts[1], hosts[2], hosts[3]})
    EXPECT_EQ(story.state(id), InstanceState::kTerminating);
  EXPECT_FALSE(set().partition);
}

// Bug: the first of them that was due began another partition.
TEST_F(ReachabilityTest, AfterARestartAnAdminMayGiveThemUp) {
  (void)restart_unreachable();
  ASSERT_TRUE(story.ask(GiveUpUnreachable{0, "root", "west"}));
  story.pass(1s);
  EXPECT_FALSE(set().partition);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(4));
}

TEST_F(ReachabilityTest, HostsThatTheCloudHasStoppedAreNotHeld) {
  const auto hosts = start(3);
  lose(hosts);
  ASSERT_TRUE(set().partition);
  std::vector<model::ListedInstance> stopped;
  for (const auto id : hosts) stopped.push_back(story.seen(id, model::CloudState::kStopped));
  story.list(stopped);
  EXPECT_TRUE(set().partition) << "one list may be false";
  story.list(stopped);
  EXPECT_FALSE(set().partition);
  story.pass(2min);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(3));
}

// Bug: one false list ended the hold of a host with work, which was destroyed at once.
TEST_F(ReachabilityTest, OneListThatShowsAHostWithWorkAsStoppedEndsNoHold) {
  const auto hosts = start(3);
  lose(hosts);
  story.pass(2min);
  story.list({story.seen(hosts[0], model::CloudState::kStopped), story.seen(hosts[1]),
              story.seen(hosts[2])});
  story.pass(2min);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  EXPECT_TRUE(set().partition);
}

// Bug: a list that showed a connected host counted as an answer.
TEST_F(ReachabilityTest, CreatesStopAlsoWhileTheOtherHostsAreConnected) {
  const auto hosts = start(6);
  lose({hosts[0], hosts[1], hosts[2]});
  for (int n = 0; n < 4; ++n) {
    story.clear();
    (void)story.submit({story.job(2)});
    for (const auto& call : story.all<CreateCall>())
      story.say(CreateSeen{call.instance, story.seen(call.instance)});
    story.pass(3min);
    std::vector<model::ListedInstance> listed;
    for (const auto id : hosts) listed.push_back(story.seen(id));
    story.list(listed);
  }
  EXPECT_NE(set().creates_refused, "");
}

// Bug: the partition stood for ever where one of its hosts was held.
TEST_F(ReachabilityTest, AHeldHostDoesNotKeepThePartition) {
  const auto hosts = start(3);
  lose(hosts);
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", hosts[0], model::IdleBehavior::kHold}));
  story.pass(6h);
  story.pass(1s);
  EXPECT_FALSE(set().partition);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(2));
  // Bug: it stayed, unreachable, after the hold too.
  ASSERT_TRUE(story.ask(SetIdleBehavior{0, "user root", hosts[0], model::IdleBehavior::kRun}));
  story.pass(1s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(3));
}

}  // namespace
}  // namespace hostler::dispatch
