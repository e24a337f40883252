#include "tests/unit/fleet/instances.h"

/// What becomes of a host that refuses starts.
namespace hostler::fleet {
namespace {

using testing::HasSubstr;

model::HostReady ready_in(const std::string& boot) { return {boot, 2, 0, {}}; }

/// A start with the next number is refused.
Outcome refuse_one(Instance& instance, Duration when) {
  return start_refused(instance, {{1}, ++instance.record.last_sequence}, "no space", at(when));
}

// Bug: it was given the same jobs again ten times a second.
TEST(StartRefusedTest, AHostThatGoesOnRefusingRestsLongerAndLonger) {
  Instance instance = instance_in(InstanceState::kBusy);
  (void)refuse_one(instance, 0s);
  EXPECT_TRUE(instance.takes_work()) << "once may be chance";
  Duration when = 0s;
  for (const Duration rest : {1s, 2s, 4s, 8s}) {
    (void)refuse_one(instance, when);
    EXPECT_FALSE(instance.takes_work());
    EXPECT_EQ(instance.deadline, at(when + rest).mono);
    (void)due(instance, pool(), at(when += rest));
    EXPECT_TRUE(instance.takes_work());
  }
  EXPECT_EQ(refuse_one(instance, when).event, Event::kBroken);
  EXPECT_EQ(instance.record.health, Health::kBroken);
}

TEST(StartRefusedTest, WhatWasSentTogetherIsRefusedOnce) {
  Instance instance = instance_in(InstanceState::kBusy);
  instance.record.last_sequence = 8;
  for (std::uint64_t sequence = 1; sequence <= 8; ++sequence)
    (void)start_refused(instance, {{sequence}, sequence}, "no space", at(1s));
  EXPECT_EQ(instance.refusals.in_a_row(), 1U);
}

// Bug: a host that could start nothing was given up after six pauses, a minute later.
TEST(StartRefusedTest, AHostThatFailsToStartThreeJobsInARowIsBroken) {
  Instance instance = instance_in(InstanceState::kBusy);
  for (std::uint64_t job = 1; job <= 3; ++job) {
    EXPECT_NE(instance.record.health, Health::kBroken);
    (void)start_refused(instance, {{job}, ++instance.record.last_sequence}, "no space", at(1s));
  }
  EXPECT_EQ(instance.record.health, Health::kBroken);
  EXPECT_THAT(instance.record.last_text, HasSubstr("no space"));
}

/// An attempt of another job, placed and reported as started.
model::AttemptId start_one(Instance& instance, Duration when) {
  PlacedAttempt attempt;
  attempt.sequence = ++instance.record.last_sequence;
  attempt.attempt = {{100 + attempt.sequence}, 1};
  attempt.started = at(when).mono;
  instance.occupancy.add(attempt);
  return attempt.attempt;
}

// Bug: hosts report an attempt as started before they prepare it, and that ended the row: a host
// with a full disk was never broken.
TEST(StartRefusedTest, WhatIsRefusedAfterItWasReportedAsStartedDoesNotEndTheRow) {
  Instance instance = instance_in(InstanceState::kBusy);
  for (std::uint64_t batch = 1; batch <= 3; ++batch) {
    EXPECT_NE(instance.record.health, Health::kBroken);
    const Duration when = batch * 10s;
    model::AttemptId tried[3];
    for (auto& one : tried) one = start_one(instance, when);
    for (const int i : {1, 2, 0}) {  // They are prepared at the same time.
      const auto sequence = instance.occupancy.find(tried[i])->sequence;
      instance.occupancy.remove(tried[i]);
      (void)start_refused(instance, {tried[i].work, sequence}, "no space", at(when + 1s));
    }
  }
  EXPECT_EQ(instance.record.health, Health::kBroken);
}

TEST(StartRefusedTest, AnAttemptThatRunsOrHasEndedEndsTheRow) {
  Instance instance = instance_in(InstanceState::kBusy);
  start_one(instance, 0s);
  for (std::uint64_t job = 1; job <= 2; ++job)
    (void)start_refused(instance, {{job}, ++instance.record.last_sequence}, "no space", at(1s));
  start_held(instance, 1, at(2s));
  EXPECT_EQ(instance.refusals.in_a_row(), 2U) << "it was placed before them";
  start_one(instance, 3s);
  (void)start_refused(instance, {{3}, ++instance.record.last_sequence}, "no space", at(20s));
  EXPECT_EQ(instance.refusals.in_a_row(), 1U);
  start_held(instance, ++instance.record.last_sequence, at(21s));
  EXPECT_EQ(instance.refusals.in_a_row(), 0U);
}

// Bug: where the agent has few uids, a host that was only full was given up after six refusals.
TEST(StartRefusedTest, AFullHostRestsUntilAnAttemptEndsAndIsNeverBroken) {
  Instance instance = instance_in(InstanceState::kBusy);
  start_one(instance, 0s);
  for (std::uint64_t job = 1; job <= 20; ++job) {
    (void)start_refused(instance, {{job}, ++instance.record.last_sequence, false}, "full", at(1s));
    EXPECT_FALSE(instance.takes_work());
  }
  EXPECT_NE(instance.record.health, Health::kBroken);
  EXPECT_EQ(instance.refusals.in_a_row(), 0U);
  start_held(instance, 1, at(2s));
  EXPECT_TRUE(instance.takes_work());
  EXPECT_EQ(instance.deadline, kNever);
}

TEST(StartRefusedTest, AHostThatCallsItselfFullAndIsEmptyIsGivenUp) {
  Instance instance = instance_in(InstanceState::kIdle);
  for (std::uint64_t job = 1; job <= 6; ++job)
    (void)start_refused(instance, {{job}, ++instance.record.last_sequence, false}, "full", at(1s));
  EXPECT_TRUE(instance.record.health == Health::kBroken ||
              instance.record.state == InstanceState::kTerminating);
}

TEST(StartRefusedTest, BatchesOfTheSameJobsAreToldApart) {
  Instance instance = instance_in(InstanceState::kBusy);
  for (int batch = 1; batch <= 3; ++batch) {
    EXPECT_NE(instance.record.health, Health::kBroken);
    instance.record.last_sequence += 4;
    for (std::uint64_t job = 1; job <= 4; ++job)
      (void)start_refused(instance, {{job}, instance.record.last_sequence - 4 + job}, "no", at(1s));
  }
  EXPECT_EQ(instance.record.health, Health::kBroken);
}

TEST(StartRefusedTest, StartsThatAConnectionsEndCutOffSayNothingAboutTheHost) {
  Instance instance = instance_in(InstanceState::kBusy);
  for (std::uint64_t job = 1; job <= 5; ++job)
    (void)start_refused(instance, {{job}, ++instance.record.last_sequence, false}, "cut", at(1s));
  EXPECT_NE(instance.record.health, Health::kBroken);
}

// Bug: lost while it rested, it was given nothing ever again.
TEST(StartRefusedTest, AConnectionEndsTheRest) {
  for (const bool lost_meanwhile : {true, false}) {
    Instance instance = instance_in(InstanceState::kBusy);
    (void)refuse_one(instance, 0s);
    (void)refuse_one(instance, 0s);
    ASSERT_FALSE(instance.takes_work());
    if (lost_meanwhile) (void)lost(instance, {"reset"}, pool(), at(1s));
    (void)ready(instance, ready_in("boot-1"), at(2s));
    EXPECT_TRUE(instance.takes_work());
    EXPECT_EQ(instance.deadline, kNever);
  }
}

TEST(StartRefusedTest, AnotherBootIsCountedByItsOwnNumbers) {
  Instance instance = instance_in(InstanceState::kBusy);
  instance.record.last_sequence = 100;
  (void)refuse_one(instance, 0s);
  (void)ready(instance, ready_in("boot-2"), at(1s));
  (void)refuse_one(instance, 2s);
  EXPECT_EQ(instance.refusals.in_a_row(), 2U);
}

}  // namespace
}  // namespace hostler::fleet
