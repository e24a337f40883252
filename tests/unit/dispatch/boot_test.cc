#include <map>

#include "tests/unit/dispatch/story.h"

/// New hosts that do not come up: boot gates.
namespace hostler::dispatch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A cloud that takes every call, and makes hosts of one sort.
class BootTest : public testing::Test {
 protected:
  enum class Sort { kDeaf, kFailed, kGone, kReclaimed, kInitFails, kGood, kShort, kShortAndGone };

  void SetUp() override { story.begin(); }

  /// Answers the calls that wait, for the time, a second at a time.
  void live(Duration time) {
    for (const Mono end = story.now.mono + time; story.now.mono < end; story.pass(1s)) answer();
  }
  void answer() {
    const auto effects = std::exchange(story.effects, {});
    for (const auto& effect : effects) {
      if (const auto* call = std::get_if<CreateCall>(&effect)) create(call->instance);
      if (const auto* call = std::get_if<DestroyCall>(&effect)) {
        there.erase(call->instance);
        story.say(DestroyEnded{call->instance, {}});
      }
      if (std::holds_alternative<ListCall>(effect)) {
        std::vector<model::ListedInstance> all;
        for (const auto& [id, seen] : there) all.push_back(seen);
        story.say(SetListed{"west", story.now.mono, model::share(std::move(all))});
      }
    }
  }
  void create(InstanceId id) {
    ++creates;
    auto seen = story.seen(id);
    if (sort == Sort::kFailed) seen.state = model::CloudState::kFailed;
    if (sort == Sort::kReclaimed) {
      seen.state = model::CloudState::kFailed;
      seen.interruption = story.now.wall + 2min;
    }
    const bool is_short = sort == Sort::kShort || sort == Sort::kShortAndGone;
    const bool is_gone = sort == Sort::kGone || sort == Sort::kShortAndGone;
    if (sort == Sort::kShort) seen.state = model::CloudState::kFailed;
    if (is_gone) seen.state = model::CloudState::kGone;
    if (is_short) seen.state_error = "Server.NoStock: none left", seen.shortage = shortage;
    if (!is_gone) there[id] = seen;
    if (sort == Sort::kGood) return story.boot(id);
    story.say(CreateSeen{id, seen});
    story.create_ended(id);
    if (sort == Sort::kDeaf) story.host(id, model::HostNotYet{"connect", "no route to host"});
    if (sort == Sort::kInitFails)
      story.host(id, model::HostInitFailed{"status 100", "E: no such package", false});
  }
  std::vector<model::GateRecord> gates() {
    return story.dispatcher.queries().gates(story.now.mono);
  }

  Story story;
  Sort sort = Sort::kDeaf;
  model::Shortage shortage;
  int creates = 0;
  std::map<InstanceId, model::ListedInstance> there;
};

// Bug: a host that never booted was replaced for ever, 13 times in 25 s with a short boot timeout.
TEST_F(BootTest, HostsThatNeverBootAreMadeLessAndLess) {
  auto site = small_site();
  site.pools[0].boot_timeout = 1s;
  story = Story(site);
  story.begin();
  (void)story.submit({story.job(2)});
  live(1h);
  EXPECT_LT(creates, 20);
  EXPECT_GT(creates, 5) << "it goes on trying";
}

// Bug: 249 creates in 25 s.
TEST_F(BootTest, InstancesThatFailOrAreGoneRightAfterTheirCreateAreMadeLessAndLess) {
  for (const auto bad : {Sort::kFailed, Sort::kGone, Sort::kReclaimed, Sort::kInitFails,
                         Sort::kShort, Sort::kShortAndGone}) {
    story = Story();
    story.begin();
    there.clear();
    creates = 0;
    sort = bad;
    (void)story.submit({story.job(2)});
    live(1h);
    EXPECT_LT(creates, 20) << static_cast<int>(bad);
    EXPECT_GT(creates, 5) << static_cast<int>(bad);
  }
}

TEST_F(BootTest, TheGateAndTheJobSayTheBootConsolesOfTheBoot) {
  sort = Sort::kInitFails;
  const auto job = story.submit({story.job(2)}).at(0);
  live(15s);
  ASSERT_THAT(gates(), testing::Not(IsEmpty()));
  EXPECT_THAT(gates()[0].message, HasSubstr("status 100: E: no such package"));
  const auto waits = story.dispatcher.queries().waiting(job);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kGateShut);
  EXPECT_THAT(waits->reason, HasSubstr("E: no such package"));
  EXPECT_TRUE(story.dispatcher.queries().reasons_of_pool("default", story.now));
}

// Bug: hosts of a type that is sold out counted as failed boots, so that their image was blamed.
TEST_F(BootTest, AShortageToldAfterTheCreateShutsAGateOfItsTypeAndNoBootGate) {
  for (const auto bad : {Sort::kShort, Sort::kShortAndGone}) {
    story = Story();
    story.begin();
    there.clear();
    sort = bad;
    const auto job = story.submit({story.job(8)}).at(0);
    live(5s);

    ASSERT_THAT(gates(), SizeIs(1));
    const auto gate = gates()[0];
    EXPECT_EQ(gate.cls, CloudErrorClass::kCapacity);
    EXPECT_EQ(gate.type, "large");
    EXPECT_EQ(gate.message, "h-1: Server.NoStock: none left");
    EXPECT_THAT(story.dispatcher.queries().waiting(job)->reason, HasSubstr("Server.NoStock"));
    (void)story.submit({story.job(2)});
    EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "the other type is not held back";
  }
}

TEST_F(BootTest, WhatAQuotaEndedFreesNothingWhenItIsGone) {
  sort = Sort::kShort;
  shortage = {CloudErrorClass::kQuota, model::scope::kAccount};
  (void)story.submit({story.job(2)});
  live(5s);

  ASSERT_THAT(there, IsEmpty()) << "it was destroyed";
  ASSERT_THAT(gates(), SizeIs(1));
  EXPECT_EQ(gates()[0].cls, CloudErrorClass::kQuota);
  EXPECT_EQ(creates, 1);
}

TEST_F(BootTest, AHostThatComesUpOpensTheGate) {
  sort = Sort::kFailed;
  (void)story.submit({story.job(2)});
  live(10s);
  ASSERT_THAT(gates(), SizeIs(1));
  sort = Sort::kGood;
  live(2min);
  EXPECT_THAT(gates(), IsEmpty());
  EXPECT_THAT(story.journalled<model::GateOpened>(), testing::Not(IsEmpty()));
}

TEST_F(BootTest, WhileAGateIsHalfOpenOneHostIsTriedForAllJobs) {
  auto site = small_site();
  site.pools[0].types = {"small"};
  story = Story(site);
  story.begin();
  sort = Sort::kFailed;
  std::vector<model::WorkItem> jobs(8, story.job(2));
  (void)story.submit(std::move(jobs));
  live(10s);
  ASSERT_THAT(gates(), testing::Not(IsEmpty()));
  EXPECT_GT(gates()[0].until, story.now.wall);
  sort = Sort::kDeaf;
  const int before = creates;
  live(5min);
  EXPECT_EQ(creates, before + 1);
  // Bug: it said until when it was shut, a time in the past, while a host was tried.
  EXPECT_EQ(gates()[0].until.us, 0);
  EXPECT_THAT(gates()[0].message, testing::MatchesRegex("half-open: h-[0-9]+ is tried, and the "
                                                        "gate opens if it comes up; before: .*"));
}

TEST_F(BootTest, AnAdminThatKillsBootingHostsShutsNoGate) {
  (void)story.submit({story.job(2)});
  for (int n = 0; n < 5; ++n) {
    live(3s);
    const auto view = story.dispatcher.queries().instances();
    for (const auto& one : view)
      if (one.record.state == InstanceState::kBooting)
        (void)story.ask(KillInstance{0, "ann", one.record.id, ""});
  }
  EXPECT_GE(creates, 4);
  EXPECT_THAT(gates(), IsEmpty());
}

TEST_F(BootTest, ANewInitCommandOpensTheGatesOfItsPoolAndOtherSettingsDoNot) {
  sort = Sort::kInitFails;
  (void)story.submit({story.job(2)});
  live(10s);
  ASSERT_THAT(gates(), testing::Not(IsEmpty()));
  auto site = small_site();
  site.pools[0].sizes.max = 11;
  story.say(PolicyChanged{site});
  EXPECT_THAT(gates(), testing::Not(IsEmpty()));
  site.pools[0].init_command = "corrected";
  story.say(PolicyChanged{site});
  EXPECT_THAT(gates(), IsEmpty());
}

TEST(CloudConfigTest, NothingIsCreatedForItWhereNothingOnTheMachineFollowsIt) {
  auto site = small_site();
  site.pools[0].cloud_config = std::string("#cloud-config\n");
  for (const bool follows : {false, true}) {
    model::SetInfo info;
    info.user_data_mime = follows;
    Story story(site);
    story.restore();
    story.say(SetOpened{"west", info});
    (void)story.submit({story.job()});
    story.pass(1min);
    EXPECT_EQ(story.all<CreateCall>().size(), follows ? 1U : 0U);
    const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);
    if (follows) continue;
    ASSERT_TRUE(why && !why->rejected.empty());
    EXPECT_THAT(why->rejected[0].reason,
                HasSubstr("the driver of set west takes no user data for cloud-init: pool default "
                          "can have no cloud_config there"));
  }
}

TEST_F(BootTest, NewBootFilesOpenTheGatesOfTheirPool) {
  sort = Sort::kInitFails;
  auto site = small_site();
  (void)story.submit({story.job(2)});
  live(10s);
  ASSERT_THAT(gates(), testing::Not(IsEmpty()));
  site.pools[0].boot_files = std::vector<model::BootFile>{{"/etc/x", "corrected", 0644, ""}};
  story.say(PolicyChanged{site});
  EXPECT_THAT(gates(), IsEmpty());
}

TEST_F(BootTest, AHostOfTheOldSettingsSaysNothingAboutTheNewOnes) {
  std::vector<model::WorkItem> jobs(4, story.job(8));
  (void)story.submit(std::move(jobs));
  live(3s);
  ASSERT_GE(creates, 3);
  auto site = small_site();
  site.pools[0].init_command = "corrected";
  story.say(PolicyChanged{site});
  for (const auto& one : story.dispatcher.queries().instances())
    story.host(one.record.id, model::HostInitFailed{"status 100", "", false});
  EXPECT_THAT(gates(), IsEmpty());
}

TEST_F(BootTest, ARestartTakesUpTheGate) {
  sort = Sort::kFailed;
  (void)story.submit({story.job(2)});
  live(10s);
  model::Restored restored;
  for (const auto& change : story.journalled<model::GateChanged>())
    restored.gates.push_back(change.record);
  ASSERT_THAT(restored.gates, SizeIs(1));
  Story next;
  next.now = story.now;
  next.begin(std::move(restored));
  (void)next.submit({next.job(2)});
  EXPECT_THAT(next.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(next.dispatcher.queries().gates(next.now.mono), SizeIs(1));
}

TEST_F(BootTest, AJobWhoseHostIsComingSaysWhatItsBootWaitsForNow) {
  const auto job = story.submit({story.job(2)}).at(0);
  live(2s);
  const auto waits = story.dispatcher.queries().waiting(job);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code, model::WaitingCode::kHostComing);
  EXPECT_THAT(waits->reason, HasSubstr("h-1 is booting, last step: connect: no route to host"));
}

}  // namespace
}  // namespace hostler::dispatch
