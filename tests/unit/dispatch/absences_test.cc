#include "tests/unit/dispatch/story.h"

/// Lists that omit instances, and the checks before they are believed.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AbsencesTest : public testing::Test {
 protected:
  /// `n` hosts that run a job each.
  std::vector<InstanceId> start(std::size_t n, model::SitePolicy site = small_site()) {
    story = Story(std::move(site));
    story.begin();
    std::vector<InstanceId> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(story.running(true).second);
    return out;
  }
  void lose(const std::vector<InstanceId>& hosts) {
    for (const auto id : hosts) story.host(id, model::HostLost{"no route"});
  }
  std::vector<model::ListedInstance> all(const std::vector<InstanceId>& hosts) {
    std::vector<model::ListedInstance> out;
    for (const auto id : hosts) out.push_back(story.seen(id));
    return out;
  }
  model::SetView set() const { return story.dispatcher.queries().sets(story.now).at(0); }

  Story story;
};

// Bug: four seconds of empty lists ended running jobs whose agents were connected.
TEST_F(AbsencesTest, EmptyListsEndNothingOnConnectedHosts) {
  const auto hosts = start(3);
  story.clear();
  for (int n = 0; n < 20; ++n) story.list({});
  for (const auto id : hosts) EXPECT_EQ(story.state(id), InstanceState::kBusy);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.ledger(), Contains("h-1 unlisted"));
  EXPECT_THAT(story.ledger(), Contains("set west list_doubted"));
}

TEST_F(AbsencesTest, AListThatOmitsHalfCreatesNothingUntilTheCloudHasAnswered) {
  const auto hosts = start(4);
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.clear();
  story.list({story.seen(hosts[0]), story.seen(hosts[1]), story.seen(hosts[2])});
  EXPECT_FALSE(set().doubt) << "one of four";

  story.list({story.seen(hosts[0])});
  ASSERT_TRUE(set().doubt);
  EXPECT_EQ(set().missing, (std::vector{hosts[1], hosts[2], hosts[3]}));
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());

  story.look_up = all(hosts);
  story.pass(2s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "all are accounted for";
  story.list(all(hosts));
  EXPECT_FALSE(set().doubt);
  EXPECT_THAT(story.ledger(), Contains("set west list_trusted"));
}

TEST_F(AbsencesTest, WithoutAnAnswerCreatesGoOnAfterTenMinutes) {
  const auto hosts = start(3);
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.list({});
  (void)story.submit({story.job(2)});
  story.clear();
  story.pass(5min);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  story.pass(5min);
  story.pass(1s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_THAT(story.ledger(), Contains("set west list_unchecked"));
  EXPECT_TRUE(set().doubt) << "the alarm stays";
}

TEST_F(AbsencesTest, InADoubtThePlannerDestroysNothingAndAnAdminMay) {
  const auto hosts = start(3);
  for (std::size_t i = 0; i < 3; ++i) story.exited(hosts[i], {i + 1});
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.list({});
  story.clear();
  story.pass(2min);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty()) << "idle for longer than idle_timeout";
  EXPECT_TRUE(story.ask(KillInstance{0, "root", hosts[0], "now"}));
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

// Bug: with ceilings of 2 eighteen machines were made in 6 s.
TEST_F(AbsencesTest, VanishedInstancesCountForCeilingsForTenMinutes) {
  auto site = small_site();
  site.ceilings.instances_max = 2;
  const auto hosts = start(2, site);
  lose(hosts);
  story.clear();
  for (int n = 0; n < 5; ++n) story.list({});
  for (const auto id : hosts) EXPECT_EQ(story.state(id), InstanceState::kVanished);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "their jobs wait";
  story.pass(10min);
  story.pass(1s);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(2));
}

TEST_F(AbsencesTest, AnInstanceThatIsListedAgainKeepsItsIdAndTheJobThatStillWaits) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  const auto on = start(1, site).at(0);
  lose({on});
  for (int n = 0; n < 2; ++n) story.list({});
  ASSERT_EQ(story.record(WorkId{1}).state, WorkState::kQueued);

  story.clear();
  story.list({story.seen(on)});
  EXPECT_EQ(story.state(on), InstanceState::kUnknown);
  story.ready(
      on, {{{{1}, 1}, model::AttemptPhase::kRunning}, {{{9}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(WorkId{1}).state, WorkState::kRunning);
  EXPECT_EQ(story.record(WorkId{1}).attempt, 1U);
  EXPECT_THAT(story.ledger(), Contains("j-1 found_again"));
  const auto killed = story.commands<model::KillAttempt>();
  ASSERT_THAT(killed, SizeIs(1)) << "attempts that are not ours are ended";
  EXPECT_EQ(killed[0].attempt.work, WorkId{9});
  story.exited(on, {1});
  EXPECT_EQ(story.record(WorkId{1}).state, WorkState::kSucceeded);
}

// Bug: it was unreachable when it vanished, and stayed so.
TEST_F(AbsencesTest, AHostThatIsListedAgainTakesWork) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  const auto on = start(1, site).at(0);
  lose({on});
  for (int n = 0; n < 2; ++n) story.list({});
  story.list({story.seen(on)});
  story.ready(on, {{{{1}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(on).health, model::Health::kHealthy);
  story.exited(on, {1});
  const auto next = story.submit({story.job()}).at(0);
  EXPECT_EQ(story.record(next).instance, on);
}

// Bug: its answer took the job that waited again back to the vanished host.
TEST_F(AbsencesTest, AnAnswerOfAHostThatHasVanishedMeanwhileIsIgnored) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  const auto on = start(1, site).at(0);
  lose({on});
  for (int n = 0; n < 2; ++n) story.list({});
  story.ready(on, {{{{1}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_EQ(story.record(WorkId{1}).state, WorkState::kQueued);
}

// Bug: the doubt began after the creates of the same list.
TEST_F(AbsencesTest, AListThatIsDoubtedSendsNoCreateAgain) {
  (void)start(3);
  (void)story.submit({story.job(2)});
  const auto unknown = story.all<CreateCall>().back().instance;
  story.create_ended(unknown, error(CloudErrorClass::kTimeout, true));
  story.pass(2s);
  story.clear();
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.list({});
  EXPECT_TRUE(set().doubt);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

// Bug: the ten minutes were over for the rest of the doubt.
TEST_F(AbsencesTest, QuestionsThatAreOpenAgainHaveTheirTenMinutesAnew) {
  const auto hosts = start(4);
  story.look_up = all(hosts);
  for (int minutes = 0; minutes < 12; ++minutes) {
    story.list({story.seen(hosts[0])});
    story.pass(1min);
  }
  ASSERT_TRUE(set().doubt);
  EXPECT_EQ(set().creates_refused, "");
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.list({});
  EXPECT_NE(set().creates_refused, "");
  EXPECT_THAT(story.ledger(), testing::Not(Contains("set west list_unchecked")));
}

// Bug: each list asked for another one, and for a look-up, as soon as the driver allowed.
TEST_F(AbsencesTest, WhileLookUpsContradictListsTheCloudIsAskedOnceAMinute) {
  const auto hosts = start(3);
  story.look_up = all(hosts);
  story.clear();
  for (int n = 0; n < 300; ++n) {
    story.list({});
    story.pass(1s);
  }
  EXPECT_LE(story.all<LookUpCall>().size(), 12U) << "in ten minutes";
}

// Bug: an admin could not free the room of what had vanished already; and three such instances shut
// a boot gate.
TEST_F(AbsencesTest, WhatAnAdminBelievesFreesItsRoomAndIsNoFailedBoot) {
  auto site = small_site();
  site.ceilings.instances_max = 3;
  const auto hosts = start(3, site);
  lose(hosts);
  for (int n = 0; n < 3; ++n) story.list({});
  ASSERT_EQ(story.state(hosts[0]), InstanceState::kVanished);
  EXPECT_EQ(set().missing, hosts);
  story.clear();
  ASSERT_TRUE(story.ask(BelieveList{0, "root", "west", set().list}));
  EXPECT_THAT(story.all<CreateCall>(), testing::Not(IsEmpty()));
  EXPECT_THAT(set().missing, SizeIs(3)) << "of that list";
}

TEST_F(AbsencesTest, VanishedInstancesCountForTheMaximumOfTheirPool) {
  auto site = small_site();
  site.pools[0].sizes.max = 2;
  const auto hosts = start(2, site);
  lose(hosts);
  story.clear();
  for (int n = 0; n < 5; ++n) story.list({});
  EXPECT_EQ(story.state(hosts[0]), InstanceState::kVanished);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

TEST_F(AbsencesTest, AnAttemptWithANewerOneIsEndedOnItsReturn) {
  const auto on = start(1).at(0);
  lose({on});
  for (int n = 0; n < 2; ++n) story.list({});
  const auto second = story.all<CreateCall>().back().instance;
  ASSERT_NE(second, on);
  story.boot(second);
  ASSERT_EQ(story.record(WorkId{1}).attempt, 2U);
  story.clear();
  story.list({story.seen(on), story.seen(second)});
  story.ready(on, {{{{1}, 1}, model::AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1));
  EXPECT_EQ(story.record(WorkId{1}).attempt, 2U);
  EXPECT_EQ(story.record(WorkId{1}).instance, second);
}

// Bug: a list that omitted an instance, and showed the second machine of its create, made this one
// the instance; when both were listed, the one with the job was destroyed.
TEST_F(AbsencesTest, ASecondMachineOfACreateDoesNotTakeTheFirstOnesPlace) {
  const auto on = start(1).at(0);
  auto second = story.seen(on);
  second.id = "i-99";
  story.clear();
  story.list({second});
  EXPECT_EQ(story.record(on).provider_id, "i-1");
  story.list({second, story.seen(on)});
  const auto destroyed = story.all<DestroyCall>();
  ASSERT_THAT(destroyed, SizeIs(1));
  EXPECT_EQ(destroyed[0].request.id, "i-99");
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
}

TEST_F(AbsencesTest, AnAdminBelievesThePresentListOnly) {
  const auto hosts = start(3);
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  lose({hosts[0], hosts[1]});
  story.list({});
  const auto list = set().list;
  EXPECT_FALSE(story.ask(BelieveList{0, "root", "east", list}));
  const auto old = story.ask(BelieveList{0, "root", "west", list - 1});
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().message, HasSubstr("newer list"));

  EXPECT_TRUE(story.ask(BelieveList{0, "root", "west", list}));
  EXPECT_EQ(story.state(hosts[0]), InstanceState::kVanished);
  EXPECT_EQ(story.state(hosts[1]), InstanceState::kVanished);
  EXPECT_EQ(story.state(hosts[2]), InstanceState::kBusy) << "its connection lives";
}

TEST_F(AbsencesTest, ADriverThatCannotLookUpIsNamedOnceAndJudgedByItsLists) {
  const auto hosts = start(3);
  story.look_up = tl::unexpected(error(CloudErrorClass::kUnsupported));
  lose(hosts);
  story.clear();
  for (int n = 0; n < 4; ++n) story.list({});
  for (const auto id : hosts) EXPECT_EQ(story.state(id), InstanceState::kVanished);
  EXPECT_THAT(story.ledger(), Contains("set west look_up_unsupported unsupported").Times(1));
}

TEST_F(AbsencesTest, ALookUpThatFailsIsRepeatedLessAndLessOften) {
  (void)start(1);
  story.look_up = tl::unexpected(error(CloudErrorClass::kTransient));
  story.clear();
  story.list({});
  for (int n = 0; n < 600; ++n) story.pass(1s);
  EXPECT_LE(story.all<LookUpCall>().size(), 20U);
  EXPECT_GE(story.all<LookUpCall>().size(), 10U);
}

TEST_F(AbsencesTest, ALookUpAsksForAHundredAtATime) {
  auto site = small_site();
  site.pools[0].sizes.max = 300;
  const auto hosts = start(150, site);
  story.clear();
  story.list({});
  const auto calls = story.all<LookUpCall>();
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_THAT(calls[0].request.ids, SizeIs(100));
  EXPECT_THAT(calls[0].request.tag_filter, IsEmpty());
  EXPECT_THAT(calls[1].request.ids, SizeIs(50));
}

}  // namespace
}  // namespace hostler::dispatch
