#include "tests/unit/fleet/instances.h"

/// Deadlines, wishes of people and plans, restarts.
namespace hostler::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Duration kDay = 24h;

TEST(DueTest, ABootThatTookTooLongEnds) {
  Instance instance = instance_in(InstanceState::kBooting);
  const auto out = due(instance, pool(), at(10min));
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  EXPECT_EQ(out.reason_code, "boot_timeout");
  EXPECT_THAT(out.effects, ElementsAre(Effect::kDisconnect, Effect::kDestroy, Effect::kList));
}

TEST(DueTest, AnUnreachableHostEndsAtItsProbeTimeout) {
  for (const auto state : {InstanceState::kIdle, InstanceState::kBusy}) {
    Instance instance = instance_in(state);
    (void)lost(instance, {"no route"}, pool(), at(0s));
    const auto out = due(instance, pool(), at(5min));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating) << to_string(state);
    EXPECT_EQ(out.reason_code, "unreachable");
    EXPECT_THAT(out.reason, HasSubstr("no route"));
  }
}

TEST(DueTest, AHostThatIsReachableAgainStays) {
  Instance instance = instance_in(InstanceState::kBusy);
  EXPECT_THAT(due(instance, pool(), at(1h)).effects, IsEmpty());
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
}

TEST(DueTest, AnUnknownCreateIsAbandonedAndStillLookedFor) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(0s));
  ASSERT_NE(instance.deadline, kNever);
  const auto out = due(instance, pool(), at(10min));

  EXPECT_EQ(instance.record.state, InstanceState::kAbandoned);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
  (void)listed(instance, listing(), at(11min).mono, pool(), at(11min));
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating) << "destroyed on sight";
}

TEST(DueTest, NotLookingIsNotAbsence) {
  Instance instance = instance_in(InstanceState::kAbandoned);
  EXPECT_THAT(due(instance, pool(), at(kDay)).effects, ElementsAre(Effect::kList));
  EXPECT_EQ(instance.record.state, InstanceState::kAbandoned);
  EXPECT_NE(instance.deadline, kNever);

  (void)absent(instance, {at(kDay + 1s).mono, 5s}, at(kDay + 2s));
  EXPECT_EQ(instance.record.state, InstanceState::kAbandoned);
  EXPECT_THAT(due(instance, pool(), at(kDay + 1min)).effects, ElementsAre(Effect::kGone));
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
}

TEST(DueTest, AnAdoptedHostThatIsNotProvedEndsUnlessWorkIsOnIt) {
  Instance empty = instance_in(InstanceState::kUnknown);
  EXPECT_EQ(due(empty, pool(), at(5min)).reason_code, "not_verified");
  EXPECT_EQ(empty.record.state, InstanceState::kTerminating);

  Instance working = instance_in(InstanceState::kUnknown);
  place(working);
  (void)due(working, pool(), at(5min));
  EXPECT_EQ(working.record.state, InstanceState::kBusy);
  EXPECT_EQ(working.record.health, Health::kUnreachable);
  EXPECT_EQ(working.deadline, at(5min + pool().probe_timeout).mono);
}

// Bug: a held host was destroyed at its boot timeout, and when a restart could not prove it again.
TEST(HoldTest, IsNeverShutDownByADeadline) {
  for (const auto state : {InstanceState::kBooting, InstanceState::kUnknown}) {
    Instance instance = instance_in(state);
    instance.record.idle_behavior = IdleBehavior::kHold;
    EXPECT_THAT(due(instance, pool(), at(10min)).effects, IsEmpty());
    EXPECT_EQ(instance.record.state, state);
  }
  for (const auto state : {InstanceState::kIdle, InstanceState::kBusy}) {
    Instance instance = instance_in(state);
    instance.record.idle_behavior = IdleBehavior::kHold;
    (void)lost(instance, {"no route"}, pool(), at(0s));
    EXPECT_THAT(due(instance, pool(), at(5min)).effects, IsEmpty());
    EXPECT_EQ(instance.record.state, state);
  }
}

TEST(HoldTest, WhatItKeptBeyondItsDeadlineIsJudgedWhenItEnds) {
  for (const auto behavior : {IdleBehavior::kRun, IdleBehavior::kDrain}) {
    Instance instance = instance_in(InstanceState::kBooting);
    instance.record.idle_behavior = IdleBehavior::kHold;
    (void)due(instance, pool(), at(10min));
    (void)set_idle_behavior(instance, behavior, "root", at(1h));
    ASSERT_EQ(instance.deadline, at(1h).mono);
    EXPECT_EQ(due(instance, pool(), at(1h)).reason_code, "boot_timeout");
  }
}

TEST(HoldTest, AnEarlyEndOfTheHoldLeavesTheDeadline) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)set_idle_behavior(instance, IdleBehavior::kHold, "root", at(1s));
  (void)set_idle_behavior(instance, IdleBehavior::kRun, "root", at(2s));
  EXPECT_EQ(instance.deadline, at(10min).mono);
}

TEST(HoldTest, ABrokenHostGoesWhenItsHoldEndsAndNothingIsOnIt) {
  Instance idle = instance_in(InstanceState::kIdle);
  (void)set_idle_behavior(idle, IdleBehavior::kHold, "root", at(1s));
  (void)broken(idle, {"report", "it reported a number that cannot be"}, at(2s));
  ASSERT_EQ(idle.record.state, InstanceState::kIdle);
  EXPECT_EQ(set_idle_behavior(idle, IdleBehavior::kRun, "root", at(3s)).reason_code, "broken");
  EXPECT_EQ(idle.record.state, InstanceState::kTerminating);

  Instance busy = instance_in(InstanceState::kBusy);
  (void)set_idle_behavior(busy, IdleBehavior::kHold, "root", at(1s));
  (void)broken(busy, {"report", "it reported a number that cannot be"}, at(2s));
  (void)set_idle_behavior(busy, IdleBehavior::kRun, "root", at(3s));
  EXPECT_EQ(busy.record.state, InstanceState::kBusy);
}

constexpr model::WorkId kLease{3, model::WorkKind::kLease};

TEST(LeaseEndTest, TheHostIsEndedUnlessOnlyAnAdminMayEndIt) {
  for (const auto state :
       {InstanceState::kUnknown, InstanceState::kBusy, InstanceState::kStopped}) {
    Instance instance = instance_in(state);
    EXPECT_EQ(lease_ended(instance, kLease, at(1s)).reason_code, "lease_ended");
    EXPECT_FALSE(lease_ended(instance, kLease, at(2s)).changed);
  }
  const auto expect_kept = [](auto change) {
    Instance instance = instance_in(InstanceState::kBusy);
    clear(instance);
    change(instance);
    const auto out = lease_ended(instance, kLease, at(1s));
    EXPECT_EQ(out.event, Event::kBroken);
    EXPECT_EQ(out.reason, "it was lent to l-3, whose holder may have changed it");
    (void)work_changed(instance, pool(), at(2s));
    EXPECT_NE(instance.record.state, InstanceState::kTerminating);
    EXPECT_FALSE(instance.takes_work());
  };
  expect_kept([](Instance& one) { one.record.idle_behavior = IdleBehavior::kHold; });
  expect_kept([](Instance& one) { one.record.restored = true; });
  expect_kept([](Instance& one) {
    one.occupancy.leave_alone({{5}, 1}, model::AttemptPhase::kRunning);
  });
}

TEST(DrainTest, AnEmptyHostGoesAtOnceABusyOneWhenItIsEmpty) {
  Instance idle = instance_in(InstanceState::kIdle);
  const auto out = set_idle_behavior(idle, IdleBehavior::kDrain, "root", at(1s));
  EXPECT_EQ(out.reason_code, "drained");
  EXPECT_EQ(idle.record.state, InstanceState::kTerminating);

  Instance busy = instance_in(InstanceState::kBusy);
  EXPECT_THAT(set_idle_behavior(busy, IdleBehavior::kDrain, "root", at(1s)).effects,
              ElementsAre(Effect::kRetag));
  busy.occupancy.release({{1}, 1});
  (void)work_changed(busy, pool(), at(2s));
  EXPECT_EQ(busy.record.state, InstanceState::kBusy) << "its output is still to come";
  clear(busy);
  EXPECT_EQ(work_changed(busy, pool(), at(3s)).reason_code, "drained");
}

TEST(IdleBehaviorTest, IsTaggedAndSaysWhoSetIt) {
  Instance instance = instance_in(InstanceState::kIdle);
  const auto out = set_idle_behavior(instance, IdleBehavior::kHold, "user root", at(1s));
  EXPECT_TRUE(out.changed);
  EXPECT_EQ(out.reason, "set by user root");
  EXPECT_THAT(out.effects, ElementsAre(Effect::kRetag));
  EXPECT_FALSE(set_idle_behavior(instance, IdleBehavior::kHold, "user root", at(2s)).changed);
}

TEST(WorkTest, TheIdleClockStartsWhenTheLastWorkLeaves) {
  Instance instance = instance_in(InstanceState::kIdle);
  place(instance);
  (void)work_changed(instance, pool(), at(1min));
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  EXPECT_EQ(instance.record.first_job, at(1min).wall);

  clear(instance);
  (void)work_changed(instance, pool(), at(1h));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
  EXPECT_EQ(instance.since, at(1h).mono);
  EXPECT_EQ(instance.record.first_job, at(1min).wall);
}

TEST(TerminateTest, EndsEveryStateOnceAndAsksTheCloud) {
  for (const auto state : {InstanceState::kRequested, InstanceState::kBooting,
                           InstanceState::kUnknown, InstanceState::kIdle, InstanceState::kBusy,
                           InstanceState::kStopped, InstanceState::kAbandoned}) {
    Instance instance = instance_in(state);
    instance.record.absent_sightings = 1;
    const auto out = terminate(instance, Reason::kKilled, "by root", at(1s));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating) << to_string(state);
    EXPECT_EQ(instance.record.absent_sightings, 0U) << "absence counts from the wish on";
    EXPECT_THAT(out.effects, Contains(Effect::kDestroy));
    EXPECT_EQ(terminate(instance, Reason::kIdle, "", at(2s)).event, std::nullopt)
        << "the first reason stays";
    EXPECT_EQ(instance.record.reason_code, Reason::kKilled);
  }
  Instance gone = instance_in(InstanceState::kGone);
  EXPECT_FALSE(terminate(gone, Reason::kKilled, "", at(1s)).changed);
}

TEST(AdoptTest, TakesEachStateUpAsItStood) {
  struct Row {
    InstanceState before, after;
    std::vector<Effect> effects;
  };
  using S = InstanceState;
  using E = Effect;
  const std::vector<Row> table{
      {S::kRequested, S::kRequested, {E::kList}},
      {S::kBooting, S::kBooting, {E::kConnect, E::kList}},
      {S::kUnknown, S::kUnknown, {E::kConnect, E::kList}},
      {S::kIdle, S::kUnknown, {E::kConnect, E::kList}},
      {S::kBusy, S::kUnknown, {E::kConnect, E::kList}},
      {S::kTerminating, S::kTerminating, {E::kDestroy, E::kList}},
      {S::kAbandoned, S::kAbandoned, {E::kList}},
      {S::kStopped, S::kStopped, {E::kList}},
  };
  for (const Row& row : table) {
    Instance instance = instance_in(row.before);
    const auto out = adopt(instance, pool(), kDay, false, at(1h));
    EXPECT_EQ(instance.record.state, row.after) << to_string(row.before);
    EXPECT_EQ(out.effects, row.effects) << to_string(row.before);
    EXPECT_FALSE(instance.takes_work()) << "nothing runs before it is proved again";
  }
}

TEST(AdoptTest, ACreateMayHaveHappenedBeforeTheDeath) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)adopt(instance, pool(), kDay, false, at(1h));
  EXPECT_TRUE(instance.creating.is_outcome_unknown());
  EXPECT_EQ(instance.deadline, at(1h + pool().boot_timeout).mono);
}

// Bug: after an outage longer than what was left of its boot time, or a clock that jumped, a host
// was ended before anybody had tried to reach it.
TEST(AdoptTest, AClockThatJumpedNeitherKillsNorSaves) {
  struct Row {
    Duration deadline, left;
  };
  const std::vector<Row> table{
      {1h + 7min, 7min}, {1h + 3min, 5min}, {30min, 5min}, {-100h, 5min}, {100h, 10min}};
  for (const Row& row : table) {
    Instance instance = instance_in(InstanceState::kBooting);
    instance.record.deadline = at(row.deadline).wall;
    (void)adopt(instance, pool(), kDay, false, at(1h));
    EXPECT_EQ(instance.deadline, at(1h + row.left).mono);
  }
}

// Bug: it was cut to 24 h, whatever scheduler.abandoned_for said.
TEST(AdoptTest, AnAbandonedCreateIsWatchedForAsLongAsThePolicySays) {
  Instance instance = instance_in(InstanceState::kAbandoned);
  instance.record.deadline = at(70h).wall;
  (void)adopt(instance, pool(), 72h, false, at(1h));
  EXPECT_EQ(instance.deadline, at(70h).mono);
}

// Bug: the first absence could be as old as the last daemon, the second come right after it.
TEST(AdoptTest, AbsenceIsCountedAnew) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)absent(instance, {at(10s).mono, 5s}, at(10s));
  ASSERT_EQ(instance.record.absent_sightings, 1U);
  (void)adopt(instance, pool(), kDay, true, at(11s));
  (void)absent(instance, {at(12s).mono, 5s}, at(12s));
  EXPECT_EQ(instance.record.absent_sightings, 1U);
}

// Bug: each restart made all hosts young again, so `lifetime_min` began anew.
TEST(AdoptTest, ARestartMakesNoHostYounger) {
  auto host = instance_in(InstanceState::kIdle);
  (void)adopt(host, pool(), kDay, false, at(1h));
  EXPECT_EQ(host.creating.decided_at(), at(0s).mono);
}

TEST(AdoptTest, AClockThatWentBackMakesAHostAsYoungAsANewOne) {
  auto host = instance_in(InstanceState::kIdle);
  const Now now{at(1h).mono, at(-24h).wall};
  (void)adopt(host, pool(), kDay, false, now);
  EXPECT_EQ(host.creating.decided_at(), now.mono);
}

TEST(AdoptTest, AHostWhoseCreationIsNotKnownIsAsYoungAsANewOne) {
  auto host = instance_in(InstanceState::kIdle);
  host.record.created = {};
  (void)adopt(host, pool(), kDay, false, at(1h));
  EXPECT_EQ(host.creating.decided_at(), at(1h).mono);
}

}  // namespace
}  // namespace hostler::fleet
