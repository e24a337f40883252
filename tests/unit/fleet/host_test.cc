#include "tests/unit/fleet/instances.h"

/// What its link says of a host.
namespace hostler::fleet {
namespace {

using model::VerifyMethod;
using testing::ElementsAre;
using testing::HasSubstr;

model::HostReady hello(const std::string& boot = "boot-1", std::uint64_t connection = 1,
                       std::uint64_t last_sequence = 0) {
  return {boot, connection, last_sequence, {}};
}

TEST(InitFailedTest, EndsANewHostWithTheBootConsolesOfTheCommand) {
  for (const auto state : {InstanceState::kBooting, InstanceState::kUnknown}) {
    Instance instance = instance_in(state);
    instance.record.ready = {};
    const Outcome out = init_failed(instance, {"status 3", "no route to host", false}, at(1min));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
    EXPECT_EQ(out.event, Event::kTerminating);
    EXPECT_EQ(instance.record.reason_code, Reason::kInitFailed);
    EXPECT_EQ(instance.record.reason, "the init command ended with status 3: no route to host");
  }
}

TEST(InitFailedTest, IsAnEventOnceIfThePoolOrAnAdminKeepsTheHost) {
  for (const bool by_pool : {true, false}) {
    Instance instance = instance_in(InstanceState::kBooting);
    if (!by_pool) instance.record.idle_behavior = IdleBehavior::kHold;
    const model::HostInitFailed event{"status 3", "", by_pool};
    EXPECT_EQ(init_failed(instance, event, at(1min)).event, Event::kInitFailed);
    EXPECT_EQ(init_failed(instance, event, at(2min)).event, std::nullopt);
    EXPECT_EQ(instance.record.state, InstanceState::kBooting);
    EXPECT_THAT(instance.record.last_text, HasSubstr("status 3, it printed nothing"));
  }
}

TEST(InitFailedTest, NeverEndsAHostThatWasReady) {
  for (const auto state : {InstanceState::kUnknown, InstanceState::kIdle, InstanceState::kBusy,
                           InstanceState::kTerminating, InstanceState::kGone}) {
    Instance instance = instance_in(state);
    const Outcome out = init_failed(instance, {"status 3", "", false}, at(1min));
    EXPECT_EQ(instance.record.state, state);
    EXPECT_FALSE(out.event);
  }
}

TEST(ReadyTest, LeadsEachStateToItsNext) {
  struct Row {
    InstanceState before;
    std::uint32_t attempts;
    InstanceState after;
  };
  using S = InstanceState;
  const std::vector<Row> table{
      {S::kRequested, 0, S::kRequested}, {S::kBooting, 0, S::kIdle},
      {S::kUnknown, 0, S::kIdle},        {S::kUnknown, 2, S::kBusy},
      {S::kIdle, 0, S::kIdle},           {S::kBusy, 1, S::kBusy},
      {S::kStopped, 0, S::kStopped},     {S::kTerminating, 0, S::kTerminating},
      {S::kAbandoned, 0, S::kAbandoned}, {S::kGone, 0, S::kGone},
  };
  for (const Row& row : table) {
    Instance instance = cut_off_in(row.before);
    clear(instance);
    place(instance, row.attempts);
    (void)ready(instance, hello(), at(1s));
    EXPECT_EQ(instance.record.state, row.after) << to_string(row.before);
    EXPECT_EQ(instance.link.is_ready(), row.after == S::kIdle || row.after == S::kBusy)
        << to_string(row.before);
  }
}

TEST(ReadyTest, TheIdleClockStartsWhenTheHostBecomesIdle) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)ready(instance, hello(), at(3min));
  EXPECT_EQ(instance.since, at(3min).mono);
  EXPECT_EQ(instance.deadline, kNever) << "the boot timeout is over";

  (void)ready(instance, hello("boot-1", 2), at(5min));
  EXPECT_EQ(instance.since, at(3min).mono) << "a reconnect is no work";
}

TEST(ReadyTest, AnotherBootForgetsTheStartsOfTheLast) {
  Instance instance = instance_in(InstanceState::kBusy);
  instance.record.last_sequence = 9;

  (void)ready(instance, hello("boot-1", 2, 4), at(1s));
  EXPECT_EQ(instance.record.last_sequence, 9U) << "numbers of one boot never fall";

  EXPECT_TRUE(ready(instance, hello("boot-2", 3, 0), at(2s)).changed);
  EXPECT_EQ(instance.record.boot_id, "boot-2");
  EXPECT_EQ(instance.record.last_sequence, 0U);
}

TEST(ReadyTest, EndsUnreachability) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)lost(instance, {"reset"}, pool(), at(1s));
  const auto out = ready(instance, hello("boot-1", 2), at(2min));

  EXPECT_EQ(out.event, Event::kReachable);
  EXPECT_EQ(instance.record.health, Health::kHealthy);
  EXPECT_EQ(instance.deadline, kNever);
  EXPECT_FALSE(instance.link.unreachable_since());
}

TEST(LostTest, ABusyHostKeepsItsWorkUntilTheProbeTimeout) {
  Instance instance = instance_in(InstanceState::kBusy);
  const auto out = lost(instance, {"connection reset"}, pool(), at(1s));

  EXPECT_EQ(out.event, Event::kUnreachable);
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_EQ(instance.record.health, Health::kUnreachable);
  EXPECT_FALSE(instance.takes_work());
  EXPECT_EQ(instance.deadline, at(1s + pool().probe_timeout).mono);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList)) << "the cloud may know more";
}

TEST(LostTest, LosingItAgainDoesNotExtendTheTimeout) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)lost(instance, {"reset"}, pool(), at(1s));
  EXPECT_FALSE(lost(instance, {"refused"}, pool(), at(4min)).changed);
  EXPECT_EQ(instance.deadline, at(1s + pool().probe_timeout).mono);
}

// Bug: the time until a ping was overdue came on top of the probe timeout.
TEST(LostTest, AHostIsGivenUpTheProbeTimeoutAfterItWasLastHeard) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)lost(instance, {"no answer", 20s}, pool(), at(60s));
  EXPECT_EQ(instance.link.unreachable_since(), at(40s).mono);
  EXPECT_EQ(instance.deadline, at(40s + pool().probe_timeout).mono);
}

TEST(LostTest, ASilenceThatNobodyCanHaveHeardCountsForTheProbeTimeoutAtMost) {
  for (const Duration silent : {Duration(-1h), Duration(24h)}) {
    Instance instance = instance_in(InstanceState::kBusy);
    (void)lost(instance, {"no answer", silent}, pool(), at(1h));
    EXPECT_GE(instance.deadline, at(1h).mono);
    EXPECT_LE(instance.deadline, at(1h + pool().probe_timeout).mono);
  }
}

TEST(LostTest, AConnectionThatEndsBeforeTheHostIsReadyKeepsTheTextOfTheStepThatFailed) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)verified(instance, {VerifyMethod::kDelivered, "ssh-ed25519 new"}, pool(), at(1s));
  (void)not_yet(instance, {"probe", "still mounting disks"}, at(2s));
  (void)lost(instance, {"connection reset"}, pool(), at(3s));
  EXPECT_EQ(instance.record.last_text, "probe: still mounting disks");
}

TEST(LostTest, ABootingHostHasItsBootTimeoutOnly) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)lost(instance, {"reset"}, pool(), at(1s));
  EXPECT_EQ(instance.record.health, Health::kHealthy);
  EXPECT_EQ(instance.deadline, at(10min).mono);
}

TEST(NotYetTest, IsToldWhenTheBootTimesOut) {
  Instance instance = instance_in(InstanceState::kBooting);
  const auto out = not_yet(instance, {"verify", "saw ssh-ed25519 AAAA, expected BBBB"}, at(1s));
  EXPECT_FALSE(out.changed);

  const auto end = due(instance, pool(), at(10min));
  EXPECT_THAT(end.reason, HasSubstr("verify: saw ssh-ed25519 AAAA, expected BBBB"));
}

TEST(VerifiedTest, RecordsTheMethodAndErasesTheDeliveredKey) {
  Instance instance = instance_in(InstanceState::kBooting);
  const auto out =
      verified(instance, {VerifyMethod::kDelivered, "ssh-ed25519 new"}, pool(), at(5s));

  EXPECT_EQ(out.event, Event::kVerified);
  EXPECT_EQ(out.reason_code, "delivered");
  EXPECT_EQ(instance.record.verified, at(5s).wall);
  EXPECT_EQ(instance.record.identity.public_key, "ssh-ed25519 new");
  EXPECT_EQ(instance.record.identity.delivered_private_key, "");
  EXPECT_EQ(instance.record.state, InstanceState::kBooting) << "the boot probe is still to pass";

  const auto again =
      verified(instance, {VerifyMethod::kDelivered, "ssh-ed25519 new"}, pool(), at(9s));
  EXPECT_FALSE(again.changed);
}

TEST(VerifiedTest, SaysNothingOfHostsThatAreLeaving) {
  for (const auto state : {InstanceState::kTerminating, InstanceState::kGone}) {
    Instance instance = instance_in(state);
    EXPECT_FALSE(
        verified(instance, {VerifyMethod::kDriver, "ssh-ed25519 x"}, pool(), at(1s)).changed);
  }
}

TEST(RotationTest, IsCommittedBeforeItIsShownAndForgetsTheOldKeyAfter) {
  Instance instance = instance_in(InstanceState::kIdle);
  EXPECT_TRUE(rotation_proposed(instance, {"ssh-ed25519 next", "next secret"}).changed);
  auto& identity = instance.record.identity;
  EXPECT_EQ(identity.public_key, "ssh-ed25519 old");
  EXPECT_EQ(identity.challenge_secret, "secret") << "both stay accepted";

  const auto out = rotation_ended(instance, {.rotated = true, .never = false, .text = "shown"});

  EXPECT_EQ(out.event, Event::kKeyRotated);
  EXPECT_EQ(identity.public_key, "ssh-ed25519 next");
  EXPECT_EQ(identity.challenge_secret, "next secret");
  EXPECT_EQ(identity.next_public_key, "");
  EXPECT_EQ(identity.next_secret, "");
}

TEST(RotationTest, ANewConnectionThatShowsTheNextKeyEndsItToo) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)rotation_proposed(instance, {"ssh-ed25519 next", "next secret"});

  const auto out =
      verified(instance, {VerifyMethod::kChallenge, "ssh-ed25519 next"}, pool(), at(1s));

  EXPECT_EQ(out.event, Event::kKeyRotated);
  EXPECT_EQ(instance.record.identity.rotation, model::Rotation::kDone);
  EXPECT_EQ(instance.record.identity.challenge_secret, "next secret");
  EXPECT_EQ(instance.record.identity.next_public_key, "");
}

TEST(RotationTest, AFailureKeepsBothKeys) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)rotation_proposed(instance, {"ssh-ed25519 next", "next secret"});

  const auto out = rotation_ended(instance, {.rotated = false, .never = false, .text = "refused"});

  EXPECT_EQ(out.event, Event::kRotationPutOff);
  EXPECT_EQ(instance.record.identity.public_key, "ssh-ed25519 old");
  EXPECT_EQ(instance.record.identity.next_public_key, "ssh-ed25519 next");
}

TEST(RotationTest, IsShownAsNoneWhereTheKeyMayNotBeReplaced) {
  Instance instance = instance_in(InstanceState::kIdle);
  const auto out = rotation_ended(instance, {.rotated = false, .never = true, .text = "read-only"});
  EXPECT_EQ(out.event, Event::kRotationNone);
  EXPECT_EQ(instance.record.identity.rotation, model::Rotation::kNone);
}

TEST(RotationTest, AHostThatWasNeverProvedProposesNothing) {
  Instance instance = instance_in(InstanceState::kBooting);
  EXPECT_FALSE(rotation_proposed(instance, {"ssh-ed25519 evil", "x"}).changed);
  EXPECT_EQ(instance.record.identity.next_public_key, "");
}

TEST(KeyAlarmTest, MarksUnreachableListsAgainAndGivesUpNoJob) {
  Instance instance = instance_in(InstanceState::kBusy);
  const auto out = key_alarm(instance, {"SHA256:evil", "another key"}, pool(), at(1s));

  EXPECT_EQ(out.event, Event::kHostKeyAlarm);
  EXPECT_EQ(out.reason_code, "SHA256:evil");
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_EQ(instance.record.health, Health::kUnreachable);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
}

// Bug: the next word about the host was all that was left of it.
TEST(KeyAlarmTest, StandsUntilTheHostItselfIsReached) {
  for (const auto state : {InstanceState::kUnknown, InstanceState::kBusy}) {
    Instance instance = instance_in(state);
    (void)key_alarm(instance, {"SHA256:evil", "another key"}, pool(), at(1s));
    (void)not_yet(instance, {"connect", "refused"}, at(2s));
    (void)lost(instance, {"refused"}, pool(), at(3s));
    (void)key_alarm(instance, {"SHA256:worse", "another key"}, pool(), at(4s));
    ASSERT_TRUE(instance.link.key_alarm());
    EXPECT_EQ(instance.link.key_alarm()->since, at(1s).wall);
    EXPECT_EQ(instance.link.key_alarm()->seen_key, "SHA256:worse");

    (void)ready(instance, hello(), at(5s));
    EXPECT_FALSE(instance.link.key_alarm());
  }
}

TEST(BrokenTest, AnIdleHostGoesAtOnce) {
  Instance instance = instance_in(InstanceState::kIdle);
  const auto out = broken(instance, {"disk", "read-only"}, at(1s));
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  EXPECT_EQ(out.reason_code, "broken");
  EXPECT_THAT(out.reason, HasSubstr("check 'disk' failed: read-only"));
}

TEST(BrokenTest, ABusyHostEndsItsWorkFirst) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)broken(instance, {"disk", "read-only"}, at(1s));
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_FALSE(instance.takes_work());

  clear(instance);
  EXPECT_EQ(work_changed(instance, pool(), at(2s)).reason_code, "broken");
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
}

TEST(BrokenTest, AHeldHostStays) {
  Instance instance = instance_in(InstanceState::kIdle);
  instance.record.idle_behavior = IdleBehavior::kHold;
  (void)broken(instance, {"disk", "read-only"}, at(1s));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
  EXPECT_EQ(instance.record.health, Health::kBroken);
}

// Bug: the next reconnect called it healthy, and gave it work until its check had run again.
TEST(BrokenTest, StaysBrokenThroughAReconnect) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)broken(instance, {"disk", "read-only"}, at(1s));
  (void)lost(instance, {"reset"}, pool(), at(2s));
  EXPECT_TRUE(instance.link.unreachable_since());
  (void)ready(instance, hello("boot-1", 2), at(3s));

  EXPECT_EQ(instance.record.health, Health::kBroken);
  EXPECT_FALSE(instance.link.unreachable_since());
  EXPECT_FALSE(instance.takes_work());
}

TEST(BrokenTest, StaysBrokenThroughARestart) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)broken(instance, {"disk", "read-only"}, at(1s));
  clear(instance);
  (void)adopt(instance, pool(), 24h, false, at(2s));
  const auto out = ready(instance, hello("boot-1", 2), at(3s));

  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  EXPECT_EQ(out.reason_code, "broken");
}

TEST(TakesWorkTest, OnlyAReadyHealthyHostThatRuns) {
  Instance good = instance_in(InstanceState::kIdle);
  EXPECT_TRUE(good.takes_work());
  EXPECT_TRUE(instance_in(InstanceState::kBusy).takes_work());
  for (const auto state : {InstanceState::kBooting, InstanceState::kUnknown,
                           InstanceState::kStopped, InstanceState::kTerminating}) {
    Instance other = instance_in(state);
    (void)other.link.became_ready();
    EXPECT_FALSE(other.takes_work()) << to_string(state);
  }
  for (const auto behavior : {IdleBehavior::kHold, IdleBehavior::kDrain}) {
    Instance kept = good;
    kept.record.idle_behavior = behavior;
    EXPECT_FALSE(kept.takes_work()) << to_string(behavior);
  }
  Instance away = good;
  away.link.lost();
  EXPECT_FALSE(away.takes_work());
}

}  // namespace
}  // namespace hostler::fleet
