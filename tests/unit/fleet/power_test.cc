#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Idle, switched off `at(1s)`, answered and seen off `at(10s)`.
Instance standby() {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(1s));
  (void)stop_answered(instance, nullptr, pool(), at(2s));
  (void)listed(instance, listing(CloudState::kStopped), at(9s).mono, pool(), at(10s));
  return instance;
}

TEST(PowerTest, SwitchingOffIsJournalledBeforeTheCallAndForgetsTheAddress) {
  Instance instance = instance_in(InstanceState::kIdle);

  const Outcome out = switch_off(instance, Reason::kIdle, "idle for 1m", at(1min));

  EXPECT_TRUE(out.changed);
  EXPECT_EQ(instance.record.state, InstanceState::kStopped);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kDisconnect, Effect::kStop, Effect::kList));
  EXPECT_FALSE(instance.takes_work());
  EXPECT_EQ(instance.record.address, "") << "another's machine may have it meanwhile";
}

TEST(PowerTest, OnlyAnIdleHostIsSwitchedOff) {
  for (const auto state : {InstanceState::kBooting, InstanceState::kBusy, InstanceState::kUnknown,
                           InstanceState::kTerminating}) {
    Instance instance = instance_in(state);
    EXPECT_FALSE(switch_off(instance, Reason::kIdle, "", at(1min)).changed) << to_string(state);
    EXPECT_EQ(instance.record.state, state);
  }
}

TEST(PowerTest, AHostIsOffOnlyOnceAListOfAfterTheStopSaysSo) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(10s));
  EXPECT_THAT(listed(instance, listing(), at(9s).mono, pool(), at(11s)).effects, IsEmpty())
      << "the list is older than the order";
  (void)stop_answered(instance, nullptr, pool(), at(12s));

  (void)listed(instance, listing(CloudState::kStopping), at(13s).mono, pool(), at(14s));
  EXPECT_FALSE(instance.power.was_seen_off());
  (void)listed(instance, listing(CloudState::kStopped), at(15s).mono, pool(), at(16s));
  EXPECT_TRUE(instance.power.was_seen_off());
}

TEST(PowerTest, AStopThatCameToNothingIsAskedForAgain) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(1s));
  const auto busy = error(CloudErrorClass::kTransient);
  (void)stop_answered(instance, &busy, pool(), at(2s));

  EXPECT_THAT(due(instance, pool(), at(12s)).effects, ElementsAre(Effect::kStop, Effect::kList));
  EXPECT_THAT(listed(instance, listing(), at(13s).mono, pool(), at(14s)).effects,
              ElementsAre(Effect::kStop));
}

// Bug: it was stopped again and again, and each stop made all lists of such a cloud too old.
TEST(PowerTest, AStopIsSeenThoughTheCloudShowsChangesLaterThanTheShutdownTimeout) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(0s));
  const Duration late = 3 * pool().shutdown_timeout;
  int stops = 1;
  for (Duration time = 0s; !instance.power.was_seen_off() && time < 10min; time += 1s) {
    const bool stop = time == 0s || instance.deadline <= at(time).mono;
    if (stop && time != 0s) (void)due(instance, pool(), at(time)), ++stops;
    if (stop) (void)stop_answered(instance, nullptr, pool(), at(time));
    (void)listed(instance, listing(CloudState::kStopped), at(time - late).mono, pool(), at(time));
  }
  EXPECT_TRUE(instance.power.was_seen_off());
  EXPECT_LT(stops, 6);
}

TEST(PowerTest, AStopUnderWayIsNotAskedForAgain) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(1s));
  (void)stop_answered(instance, nullptr, pool(), at(2s));
  (void)listed(instance, listing(CloudState::kStopping), at(3s).mono, pool(), at(4s));
  EXPECT_EQ(instance.deadline, kNever);
}

TEST(PowerTest, AStartThatWasRefusedIsNoWakeInVain) {
  Instance instance = standby();
  const auto none = error(CloudErrorClass::kCapacity);
  for (int n = 1; n <= 5; ++n) {
    (void)switch_on(instance, "", pool(), at(n * 1min));
    (void)start_answered(instance, &none, at(n * 1min + 1s));
  }
  (void)switch_on(instance, "", pool(), at(10min));
  (void)start_answered(instance, nullptr, at(601s));
  (void)listed(instance, listing(CloudState::kStopped), at(605s).mono, pool(), at(606s));
  EXPECT_EQ(instance.record.state, InstanceState::kStopped) << "it may be woken again";
}

TEST(PowerTest, WhatCannotBeStoppedOrStartedIsEnded) {
  const auto never = error(CloudErrorClass::kUnsupported);
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(1s));
  EXPECT_EQ(stop_answered(instance, &never, pool(), at(2s)).reason_code, "cannot_stop");
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);

  instance = standby();
  (void)switch_on(instance, "", pool(), at(1min));
  EXPECT_EQ(start_answered(instance, &never, at(61s)).reason_code, "cannot_start");
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
}

TEST(PowerTest, WakingNeedsTheCloudsWordThatItIsOff) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)switch_off(instance, Reason::kIdle, "", at(1s));
  EXPECT_FALSE(switch_on(instance, "", pool(), at(2s)).changed);

  instance = standby();
  const Outcome out = switch_on(instance, "1 waiting job needs it", pool(), at(1min));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting);
  EXPECT_EQ(instance.deadline, at(11min).mono);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kStart, Effect::kList));
}

TEST(PowerTest, AWokenHostIsConnectedWhereItIsNow) {
  Instance instance = standby();
  (void)switch_on(instance, "", pool(), at(1min));
  (void)start_answered(instance, nullptr, at(62s));
  EXPECT_THAT(listed(instance, listing(), at(61s).mono, pool(), at(63s)).effects,
              ElementsAre(Effect::kList))
      << "an address of before";

  auto seen = listing();
  seen.address = "10.0.0.99";
  EXPECT_THAT(listed(instance, seen, at(64s).mono, pool(), at(65s)).effects,
              ElementsAre(Effect::kConnect));
  EXPECT_EQ(instance.record.address, "10.0.0.99");
}

TEST(PowerTest, AStartRefusedForNowLeavesItStandby) {
  Instance instance = standby();
  (void)switch_on(instance, "", pool(), at(1min));
  const auto none = error(CloudErrorClass::kCapacity);
  const Outcome out = start_answered(instance, &none, at(61s));
  EXPECT_EQ(out.event, Event::kStartRefused);
  EXPECT_EQ(instance.record.state, InstanceState::kStopped);
  EXPECT_TRUE(instance.power.was_seen_off()) << "the next plan may wake it again";
}

TEST(PowerTest, AStartOfUnknownOutcomeIsLeftToTheLists) {
  Instance instance = standby();
  (void)switch_on(instance, "", pool(), at(1min));
  const auto lost = error(CloudErrorClass::kTimeout, true);
  EXPECT_THAT(start_answered(instance, &lost, at(61s)).effects, ElementsAre(Effect::kList));
  EXPECT_EQ(instance.record.state, InstanceState::kBooting);
  (void)listed(instance, listing(CloudState::kStopped), at(62s).mono, pool(), at(63s));
  EXPECT_EQ(instance.record.state, InstanceState::kStopped) << "it never started";
}

TEST(PowerTest, AHostThatNeverComesUpIsNotWokenForEver) {
  Instance instance = standby();
  for (int n = 1; n <= 3; ++n) {
    const Duration began = n * 1min;
    ASSERT_EQ(instance.record.state, InstanceState::kStopped) << n;
    (void)switch_on(instance, "", pool(), at(began));
    (void)start_answered(instance, nullptr, at(began + 1s));
    (void)listed(instance, listing(CloudState::kStopped), at(began + 5s).mono, pool(),
                 at(began + 6s));
  }
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  EXPECT_EQ(instance.record.reason_code, Reason::kDoesNotStart);
}

TEST(PowerTest, AListOfBeforeItWasReadyCannotSwitchItOff) {
  Instance instance = standby();
  (void)switch_on(instance, "", pool(), at(1min));
  (void)start_answered(instance, nullptr, at(61s));
  (void)listed(instance, listing(), at(62s).mono, pool(), at(63s));
  model::HostReady up;
  up.boot_id = "boot-2";
  up.connection = 2;
  (void)ready(instance, up, at(70s));
  ASSERT_EQ(instance.record.state, InstanceState::kIdle);

  (void)listed(instance, listing(CloudState::kStopped), at(69s).mono, pool(), at(71s));
  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
  (void)listed(instance, listing(CloudState::kStopped), at(72s).mono, pool(), at(73s));
  EXPECT_EQ(instance.record.state, InstanceState::kStopped);
}

// ---- work on a host that its cloud lists as stopped ----

/// A list with a consistency of 2 s, sent `at(sent)`.
Outcome list_with(Instance& instance, CloudState state, Duration sent, Duration consistency = 2s) {
  return listed(instance, listing(state), at(sent - consistency).mono, pool(), at(sent + 1s),
                consistency);
}

TEST(StoppedAtWorkTest, TwoListsOfAConsistencyApartProveIt) {
  for (const auto state : {CloudState::kStopped, CloudState::kSuspended}) {
    Instance instance = cut_off_in(InstanceState::kBusy);
    const Outcome first = list_with(instance, state, 10s);
    EXPECT_EQ(instance.record.state, InstanceState::kBusy);
    EXPECT_THAT(first.effects, ElementsAre(Effect::kList));
    EXPECT_EQ(first.list_after, 1s) << "two seconds after the first was sent";
    EXPECT_THAT(list_with(instance, state, 11s).effects, ElementsAre(Effect::kList));
    EXPECT_EQ(instance.record.state, InstanceState::kBusy) << "too close to the first";
    const Outcome last = list_with(instance, state, 12s);
    EXPECT_EQ(instance.record.state, InstanceState::kStopped);
    EXPECT_EQ(instance.record.reason_code, Reason::kCloudStopped);
    EXPECT_THAT(last.effects, ElementsAre(Effect::kDisconnect, Effect::kWorkLost));
    EXPECT_EQ(last.event, Event::kStopped);
    EXPECT_TRUE(instance.power.was_seen_off());
  }
}

TEST(StoppedAtWorkTest, WhereTheDriverDeclaresNoneAMinuteLiesBetweenThem) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  (void)list_with(instance, CloudState::kStopped, 10s, 0s);
  (void)list_with(instance, CloudState::kStopped, 69s, 0s);
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
  (void)list_with(instance, CloudState::kStopped, 70s, 0s);
  EXPECT_EQ(instance.record.state, InstanceState::kStopped);
}

TEST(StoppedAtWorkTest, AnythingElseBetweenThemBeginsAnew) {
  const auto connected = [](Instance& instance) {
    (void)verified(instance, {model::VerifyMethod::kChallenge, "ssh-ed25519 old"}, pool(), at(12s));
    (void)lost(instance, {"reset"}, pool(), at(12s));
  };
  const std::vector<std::pair<const char*, std::function<void(Instance&)>>> all{
      {"listed as running", [](auto& i) { (void)list_with(i, CloudState::kRunning, 12s); }},
      {"listed as stopping", [](auto& i) { (void)list_with(i, CloudState::kStopping, 12s); }},
      {"its host answered", connected}};
  for (const auto& [what, happens] : all) {
    Instance instance = cut_off_in(InstanceState::kBusy);
    (void)list_with(instance, CloudState::kStopped, 10s);
    happens(instance);
    (void)list_with(instance, CloudState::kStopped, 16s);
    EXPECT_EQ(instance.record.state, InstanceState::kBusy) << what;
    (void)list_with(instance, CloudState::kStopped, 18s);
    EXPECT_EQ(instance.record.state, InstanceState::kStopped) << what;
  }
}

TEST(StoppedAtWorkTest, NothingIsProvedBy) {
  const auto stays = [](Instance instance, CloudState state, const char* what) {
    for (const Duration sent : {10s, 20s, 90s}) (void)list_with(instance, state, sent);
    EXPECT_FALSE(instance.empty()) << what;
    EXPECT_EQ(instance.record.state, InstanceState::kBusy) << what;
  };
  const Instance cut_off = cut_off_in(InstanceState::kBusy);
  stays(cut_off, CloudState::kStopping, "one that is being stopped");
  stays(instance_in(InstanceState::kBusy), CloudState::kStopped, "lists against a connection");
  Instance restored = cut_off;
  restored.record.restored = true;
  stays(restored, CloudState::kStopped, "lists about work of a restored state");
  Instance left = cut_off;
  left.occupancy.leave_alone({{9}, 1}, model::AttemptPhase::kRunning);
  stays(left, CloudState::kStopped, "lists about work that is left alone");
  Instance looked_up = cut_off;
  for (const Duration sent : {10s, 20s, 90s})
    (void)listed(looked_up, listing(CloudState::kStopped), at(sent).mono, pool(), at(sent));
  EXPECT_EQ(looked_up.record.state, InstanceState::kBusy) << "records that are no lists";
}

TEST(StoppedAtWorkTest, AListFromBeforeTheHostLastAnsweredSaysNothing) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  instance.power.changed(at(30s).mono);
  for (const Duration sent : {10s, 20s, 31s}) (void)list_with(instance, CloudState::kStopped, sent);
  EXPECT_EQ(instance.record.state, InstanceState::kBusy);
}

}  // namespace
}  // namespace hostler::fleet
