#include "tests/unit/fleet/instances.h"

/// An instance that lists omit: what it takes until it counts as gone.
namespace hostler::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr Duration kDeclared = 5s;

Outcome list_without(Instance& instance, Duration when, Duration consistency = kDeclared) {
  return absent(instance, {at(when).mono, consistency}, at(when + 100ms));
}
Outcome look_up_without(Instance& instance, Duration when, bool gone = false) {
  return not_found(instance, at(when).mono, gone, at(when + 100ms));
}

Instance vanished(bool said_gone = false) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  (void)list_without(instance, 10s);
  (void)look_up_without(instance, 11s, said_gone);
  (void)list_without(instance, 20s);
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
  return instance;
}

TEST(AbsenceTest, TwoListsAreNotEnoughWithoutALookUp) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  EXPECT_THAT(list_without(instance, 10s).effects, Contains(Effect::kLookUp));
  for (const Duration when : {20s, 30s, 40s})
    EXPECT_THAT(list_without(instance, when).effects, ElementsAre(Effect::kLookUp));
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);

  EXPECT_THAT(look_up_without(instance, 41s).effects, Contains(Effect::kWorkLost));
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
}

TEST(AbsenceTest, ALookUpThatFindsItOutweighsAllLists) {
  Instance instance = instance_in(InstanceState::kBusy);
  for (Duration when = 10s; when <= 10min; when += 10s) {
    (void)list_without(instance, when);
    (void)found(instance, listing(), at(when + 1s).mono, pool(), at(when + 1s));
  }
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_TRUE(instance.listing.absence()) << "shown as unlisted all the same";
  EXPECT_TRUE(instance.takes_work());
  (void)listed(instance, listing(), at(11min).mono, pool(), at(11min));
  EXPECT_FALSE(instance.listing.absence());
}

TEST(AbsenceTest, ADriverWithoutLookUpsIsJudgedByItsLists) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  for (const Duration when : {10s, 20s}) {
    const auto out =
        absent(instance, {.sent = at(when).mono, .consistency = kDeclared, .can_look_up = false},
               at(when));
    EXPECT_THAT(out.effects, Not(Contains(Effect::kLookUp)));
  }
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
}

TEST(AbsenceTest, AnUndeclaredConsistencyIsAMinuteForWhatNobodyDestroyed) {
  Instance instance = cut_off_in(InstanceState::kIdle);
  const auto first = list_without(instance, 10s, 0s);
  EXPECT_EQ(first.list_after, 1min - 100ms);
  (void)look_up_without(instance, 11s);
  (void)list_without(instance, 69s, 0s);
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
  (void)list_without(instance, 70s, 0s);
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);

  Instance destroyed = instance_in(InstanceState::kTerminating);
  (void)list_without(destroyed, 10s, 0s);
  (void)look_up_without(destroyed, 11s);
  EXPECT_THAT(list_without(destroyed, 12s, 0s).effects, Contains(Effect::kGone));
}

// Bug: a destroy that the cloud had refused for a moment was forgotten when lists omitted the
// instance.
TEST(AbsenceTest, ADestroyThatWasRefusedForNowIsNotForgotten) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)terminate(instance, Reason::kKilled, "by root", at(1s));
  const auto refused = error(CloudErrorClass::kTransient);
  (void)destroy_answered(instance, &refused, pool(), at(2s));
  for (const Duration when : {10s, 20s, 30s}) {
    (void)list_without(instance, when);
    (void)look_up_without(instance, when + 1s);
  }
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  (void)destroy_answered(instance, nullptr, pool(), at(35s));
  (void)list_without(instance, 40s);
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
}

TEST(AbsenceTest, ALiveConnectionContradictsTheCloud) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)list_without(instance, 10s);
  (void)look_up_without(instance, 11s);
  const auto out = list_without(instance, 20s);
  EXPECT_EQ(out.event, Event::kUnlisted);
  EXPECT_TRUE(instance.takes_work()) << "for a minute";

  EXPECT_FALSE(list_without(instance, 30s).event) << "the alarm is raised once";
  (void)list_without(instance, 70s);
  EXPECT_FALSE(instance.takes_work());
  EXPECT_EQ(instance.record.state, InstanceState::kBusy) << "it keeps its jobs";

  (void)listed(instance, listing(), at(80s).mono, pool(), at(80s));
  EXPECT_TRUE(instance.takes_work());
}

TEST(AbsenceTest, WhenTheConnectionIsLostListsAndLookUpDecideAnew) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)list_without(instance, 10s);
  (void)look_up_without(instance, 11s);
  (void)list_without(instance, 20s);
  (void)lost(instance, {"no route"}, pool(), at(25s));

  (void)list_without(instance, 26s);
  (void)list_without(instance, 40s);
  EXPECT_EQ(instance.record.state, InstanceState::kBusy) << "the look-up is of a time before";
  (void)look_up_without(instance, 41s);
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
}

TEST(AbsenceTest, AfterARestartAProvedHostIsLiveUntilTheFirstAttemptToConnectHasEnded) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)adopt(instance, pool(), 24h, true, at(1s));
  EXPECT_TRUE(instance.link.is_live());
  (void)not_yet(instance, {"connect", "refused"}, at(2s));
  EXPECT_FALSE(instance.link.is_live());
}

TEST(AbsenceTest, AVanishedInstanceCountsForCeilingsForTenMinutes) {
  Instance instance = vanished();
  EXPECT_TRUE(instance.may_exist());
  EXPECT_EQ(instance.deadline, at(20s + 100ms + kVanishedCounts).mono);
  EXPECT_THAT(due(instance, pool(), at(11min)).effects, ElementsAre(Effect::kRoomFreed));
  EXPECT_FALSE(instance.may_exist());
  EXPECT_EQ(instance.record.state, InstanceState::kVanished) << "a list may show it again";

  const auto end = due(instance, pool(), at(25h));
  EXPECT_THAT(end.effects, ElementsAre(Effect::kGone));
  EXPECT_EQ(instance.record.identity, model::HostIdentity{});
}

TEST(AbsenceTest, TheErrorOfWhichTheCloudSaysItDiedIsInTheReason) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  auto seen = listing(CloudState::kTerminating);
  seen.state_error = "Client.VolumeLimitExceeded: no volume";
  (void)listed(instance, seen, at(1s).mono, pool(), at(1s));
  (void)list_without(instance, 10s);
  (void)look_up_without(instance, 11s, true);
  const auto end = list_without(instance, 20s);
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
  EXPECT_THAT(end.reason,
              testing::HasSubstr("the cloud says: Client.VolumeLimitExceeded: no volume"));
}

TEST(AbsenceTest, AnInstanceThatTheCloudSaysIsGoneDoesNotCount) {
  EXPECT_FALSE(vanished(/*said_gone=*/true).may_exist());
}

Outcome vanish_after_notice(Instance& instance, model::InterruptionAction action) {
  (void)noticed(instance,
                {.source = model::NoticeSource::kDriver,
                 .action = action,
                 .noticed = {},
                 .at = at(2min).wall,
                 .text = ""},
                pool(), at(5s));
  (void)list_without(instance, 10s);
  (void)look_up_without(instance, 11s);
  Outcome out = list_without(instance, 20s);
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
  return out;
}

TEST(AbsenceTest, AnInstanceWhoseEndWasAnnouncedDoesNotCount) {
  using enum model::InterruptionAction;
  for (const auto action : {kTerminate, kNotSaid}) {
    Instance instance = cut_off_in(InstanceState::kBusy);
    EXPECT_THAT(vanish_after_notice(instance, action).effects, Contains(Effect::kRoomFreed));
    EXPECT_FALSE(instance.may_exist()) << to_string(action);
  }
}

TEST(AbsenceTest, AnInstanceThatWasToBeStoppedOrBootedAnewCounts) {
  using enum model::InterruptionAction;
  for (const auto action : {kStop, kSuspend, kRestart}) {
    Instance instance = cut_off_in(InstanceState::kBusy);
    EXPECT_THAT(vanish_after_notice(instance, action).effects, Not(Contains(Effect::kRoomFreed)));
    EXPECT_TRUE(instance.may_exist()) << to_string(action);
  }
}

TEST(AbsenceTest, ARestartGoesOnCountingAVanishedInstance) {
  Instance counts = vanished();
  (void)adopt(counts, pool(), 24h, false, at(5min));
  EXPECT_TRUE(counts.may_exist());
  EXPECT_EQ(counts.deadline, at(20s + 100ms + kVanishedCounts).mono);

  Instance past = vanished();
  (void)due(past, pool(), at(11min));
  past.record.deadline = at(24h).wall;  // As the caller sets it.
  (void)adopt(past, pool(), 24h, false, at(12min));
  EXPECT_FALSE(past.may_exist());
  EXPECT_EQ(past.record.state, InstanceState::kVanished);
}

TEST(AbsenceTest, AnInstanceThatIsListedAgainIsItselfAgain) {
  Instance instance = vanished();
  clear(instance);
  const auto out = listed(instance, listing(), at(5min).mono, pool(), at(5min));
  EXPECT_EQ(out.event, Event::kListedAgain);
  EXPECT_THAT(out.effects, Contains(Effect::kConnect));
  EXPECT_EQ(instance.record.state, InstanceState::kUnknown);
  EXPECT_EQ(instance.record.gone, Wall{}) << "it is paid for again";
  EXPECT_EQ(instance.record.identity.public_key, "ssh-ed25519 old") << "only this key is accepted";
}

TEST(AbsenceTest, AnAdminMayBelieveAListButNotAgainstALiveConnection) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)list_without(instance, 10s);
  EXPECT_THAT(believed_absent(instance, "root", at(11s)).effects, IsEmpty());
  (void)lost(instance, {"no route"}, pool(), at(11s));
  EXPECT_THAT(believed_absent(instance, "root", at(12s)).effects, Contains(Effect::kWorkLost));
  EXPECT_FALSE(instance.may_exist());
}

}  // namespace
}  // namespace hostler::fleet
