#include "tests/unit/fleet/instances.h"

/// What lists make of an instance.
namespace hostler::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr Duration kConsistency = 5s;

/// A list does not show the instance, and a look-up that it asks for does not find it.
Outcome absent_at(Instance& instance, Duration when) {
  Outcome out = absent(instance, {at(when).mono, kConsistency}, at(when + 100ms));
  if (std::erase(out.effects, Effect::kLookUp) == 0) return out;
  Outcome answer = not_found(instance, at(when + 50ms).mono, false, at(when + 100ms));
  return answer.event ? answer : out;
}

TEST(ListedTest, LeadsEachStateToItsNext) {
  struct Row {
    InstanceState before;
    CloudState seen;
    InstanceState after;
  };
  using S = InstanceState;
  using C = CloudState;
  const std::vector<Row> table{
      {S::kRequested, C::kRequested, S::kRequested},
      {S::kRequested, C::kPending, S::kBooting},
      {S::kRequested, C::kRunning, S::kBooting},
      {S::kRequested, C::kFailed, S::kTerminating},
      {S::kRequested, C::kGone, S::kTerminating},  // a create sent again: its machine is no more
      {S::kBooting, C::kPending, S::kBooting},
      {S::kBooting, C::kUnknown, S::kBooting},
      {S::kBooting, C::kFailed, S::kTerminating},
      {S::kBooting, C::kStopped, S::kStopped},
      {S::kUnknown, C::kRunning, S::kUnknown},
      {S::kUnknown, C::kFailed, S::kTerminating},
      {S::kIdle, C::kRunning, S::kIdle},
      {S::kIdle, C::kStopping, S::kStopped},
      {S::kIdle, C::kSuspended, S::kStopped},
      {S::kIdle, C::kFailed, S::kTerminating},
      {S::kBusy, C::kRunning, S::kBusy},
      {S::kBusy, C::kGone, S::kBusy},     // Late news of its create; a list tells.
      {S::kBusy, C::kStopped, S::kBusy},  // Its work is not given up before the probe timeout.
      {S::kStopped, C::kStopped, S::kStopped},
      {S::kTerminating, C::kRunning, S::kTerminating},
      {S::kTerminating, C::kFailed, S::kTerminating},
      {S::kAbandoned, C::kPending, S::kTerminating},
      {S::kAbandoned, C::kRequested, S::kTerminating},
      {S::kGone, C::kRunning, S::kGone},
  };
  for (const Row& row : table) {
    Instance instance = cut_off_in(row.before);
    const auto out = listed(instance, listing(row.seen), at(1s).mono, pool(), at(1s));
    EXPECT_EQ(instance.record.state, row.after)
        << to_string(row.before) << " listed as " << to_string(row.seen);
    const bool destroyed =
        row.after == InstanceState::kTerminating && row.before != InstanceState::kTerminating;
    EXPECT_EQ(testing::Value(out.effects, Contains(Effect::kDestroy)), destroyed)
        << to_string(row.before) << " listed as " << to_string(row.seen);
  }
}

TEST(ListedTest, AnErrorOfTheCloudIsInTheReasonOfABootThatFails) {
  Instance booting = instance_in(InstanceState::kBooting);
  auto seen = listing(CloudState::kStopping);
  seen.state_error = "Server.InternalError: disk";
  booting.listing.note_error(seen);
  const auto late = due(booting, pool(), at(11min));
  EXPECT_THAT(late.reason, testing::HasSubstr("the cloud says: Server.InternalError: disk"));

  Instance failed = instance_in(InstanceState::kBooting);
  seen = listing(CloudState::kFailed);
  seen.state_reason = "words", seen.state_error = "Server.InternalError: disk";
  const auto end = listed(failed, seen, at(1s).mono, pool(), at(1s));
  EXPECT_EQ(end.reason, "the cloud says failed: Server.InternalError: disk");

  Instance gone = instance_in(InstanceState::kRequested);
  seen = listing(CloudState::kGone);
  seen.state_error = "Server.InternalError: disk";
  const auto at_once = listed(gone, seen, at(1s).mono, pool(), at(1s));
  EXPECT_THAT(at_once.reason, testing::HasSubstr("; the cloud says: Server.InternalError: disk"));
}

TEST(ListedTest, WhatRunsHasNoErrorAnyMore) {
  Instance instance = instance_in(InstanceState::kBooting);
  auto died = listing(CloudState::kTerminating);
  died.state_error = "old";
  instance.listing.note_error(died);
  (void)listed(instance, listing(CloudState::kPending), at(1s).mono, pool(), at(1s));
  EXPECT_EQ(instance.listing.error(), "old");
  (void)listed(instance, listing(CloudState::kRunning), at(2s).mono, pool(), at(2s));
  EXPECT_EQ(instance.listing.error(), "");
}

TEST(ListedTest, AShortageIsToldOnceUntilTheInstanceHasRunAgain) {
  Instance instance = instance_in(InstanceState::kBooting);
  auto died = listing(CloudState::kTerminating);
  died.state_error = "Server.NoStock", died.shortage = model::Shortage{};
  EXPECT_FALSE(instance.listing.tell_shortage());
  instance.listing.note_error(died);
  EXPECT_TRUE(instance.listing.tell_shortage());
  instance.listing.note_error(died);
  EXPECT_FALSE(instance.listing.tell_shortage());
  instance.listing.note_error(listing(CloudState::kRunning));
  EXPECT_FALSE(instance.listing.tell_shortage());
  instance.listing.note_error(died);
  EXPECT_TRUE(instance.listing.tell_shortage());
}

TEST(ListedTest, ConnectsOnceThereIsAnAddress) {
  Instance instance = instance_in(InstanceState::kRequested);
  auto seen = listing();
  seen.address.clear();

  EXPECT_THAT(listed(instance, seen, at(1s).mono, pool(), at(1s)).effects,
              Not(Contains(Effect::kConnect)));
  EXPECT_THAT(listed(instance, seen, at(2s).mono, pool(), at(2s)).effects,
              ElementsAre(Effect::kList));
  EXPECT_THAT(listed(instance, listing(), at(3s).mono, pool(), at(3s)).effects,
              ElementsAre(Effect::kConnect));
  EXPECT_THAT(listed(instance, listing(), at(4s).mono, pool(), at(4s)).effects, IsEmpty());
}

TEST(ListedTest, ConnectsAnewWhenTheAddressMoves) {
  Instance instance = cut_off_in(InstanceState::kIdle);
  instance.record.address = "10.0.0.1";

  const auto out = listed(instance, listing(), at(1s).mono, pool(), at(1s));

  EXPECT_TRUE(out.changed);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kConnect));
  EXPECT_EQ(instance.record.address, "10.0.0.7");
}

TEST(ListedTest, GivesTheBootItsTimeFromTheFirstSight) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)listed(instance, listing(), at(1min).mono, pool(), at(1min));

  EXPECT_EQ(instance.deadline, at(11min).mono);
  EXPECT_EQ(instance.record.deadline, at(11min).wall);
}

// Bug: on a machine that had just booted, every list counted as older than the host's last switch.
TEST(ListedTest, TakesTheAddressSoonAfterTheDaemonsMachineHasBooted) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)listed(instance, listing(), Mono(-1h), pool(), {Mono(1s), at(0s).wall});
  EXPECT_EQ(instance.record.address, "10.0.0.7");
}

TEST(ListedTest, TakesTheSpotRequestsNewIdOnce) {
  Instance instance = instance_in(InstanceState::kRequested);
  auto request = listing(CloudState::kRequested);
  request.id = "sir-1";
  request.address.clear();
  (void)listed(instance, request, at(1s).mono, pool(), at(1s));
  EXPECT_TRUE(instance.listing.is_unfulfilled_spot());

  auto fulfilled = listing();
  fulfilled.request_id = "sir-1";
  (void)listed(instance, fulfilled, at(2s).mono, pool(), at(2s));

  EXPECT_FALSE(instance.listing.is_unfulfilled_spot());
  EXPECT_EQ(instance.record.provider_id, "i-7");
  EXPECT_EQ(instance.record.request_id, "sir-1");
}

// Bug: an adopted spot request stayed "outcome unknown" though the cloud showed it, and was given
// up and destroyed at the boot timeout.
TEST(ListedTest, ASpotRequestThatTheCloudShowsIsNoUnknownCreate) {
  Instance instance = instance_in(InstanceState::kRequested);
  instance.record.market = model::Market::kSpot;
  (void)adopt(instance, pool(), 24h, false, at(0s));
  ASSERT_TRUE(instance.creating.is_outcome_unknown());

  (void)listed(instance, listing(CloudState::kRequested), at(1s).mono, pool(), at(1s));

  EXPECT_FALSE(instance.creating.is_outcome_unknown());
  EXPECT_EQ(instance.deadline, kNever);
}

TEST(ListedTest, ForgetsAnEarlierAbsence) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)absent_at(instance, 10s);
  ASSERT_EQ(instance.record.absent_sightings, 1U);

  EXPECT_TRUE(listed(instance, listing(), at(20s).mono, pool(), at(20s)).changed);
  (void)absent_at(instance, 30s);

  EXPECT_EQ(instance.record.state, InstanceState::kIdle);
}

TEST(AbsentTest, GoneOnlyAfterTheSecondListThatLacksIt) {
  for (const auto state :
       {InstanceState::kBooting, InstanceState::kUnknown, InstanceState::kIdle,
        InstanceState::kBusy, InstanceState::kStopped, InstanceState::kTerminating}) {
    Instance instance = cut_off_in(state);
    EXPECT_THAT(absent_at(instance, 10s).effects, ElementsAre(Effect::kList)) << to_string(state);
    EXPECT_EQ(instance.record.state, state);

    const auto out = absent_at(instance, 20s);
    const bool destroyed = state == InstanceState::kTerminating;
    EXPECT_EQ(instance.record.state, destroyed ? InstanceState::kGone : InstanceState::kVanished)
        << to_string(state);
    EXPECT_THAT(out.effects,
                ElementsAre(Effect::kDisconnect, destroyed ? Effect::kGone : Effect::kWorkLost));
    EXPECT_NE(instance.record.gone.us, 0);
  }
}

TEST(AbsentTest, TwoListsWithinTheCloudsConsistencyAreOneSighting) {
  Instance instance = instance_in(InstanceState::kTerminating);
  (void)absent_at(instance, 10s);
  const auto soon = absent_at(instance, 10s + kConsistency - 1ms);
  EXPECT_THAT(soon.effects, ElementsAre(Effect::kList));
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);

  (void)absent_at(instance, 10s + kConsistency);
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
}

TEST(AbsentTest, AListSentBeforeItWasKnownSaysNothing) {
  Instance instance = instance_in(InstanceState::kBooting);
  instance.listing.ignore_until(at(10s).mono);
  (void)absent_at(instance, 9s);
  (void)absent_at(instance, 10s);
  EXPECT_EQ(instance.record.absent_sightings, 0U);
}

TEST(AbsentTest, ErasesSecretsAndKeepsWhoEndedIt) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)terminate(instance, Reason::kKilled, "by root", at(1s));
  (void)destroy_answered(instance, nullptr, pool(), at(2s));
  (void)absent_at(instance, 10s);
  const auto out = absent_at(instance, 20s);

  EXPECT_EQ(out.event, Event::kGone);
  EXPECT_EQ(out.reason_code, "killed");
  EXPECT_EQ(out.reason, "by root");
  EXPECT_EQ(instance.record.identity, model::HostIdentity{});
}

TEST(AbsentTest, WhatNobodyEndedHasVanished) {
  Instance instance = cut_off_in(InstanceState::kBusy);
  (void)absent_at(instance, 10s);
  EXPECT_EQ(absent_at(instance, 20s).reason_code, "vanished");
}

TEST(AbsentTest, AnUnknownCreateIsSentAgainOnceALaterListLacksIt) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(10s));

  EXPECT_THAT(absent_at(instance, 11s).effects, ElementsAre(Effect::kList)) << "too early to tell";
  EXPECT_THAT(absent_at(instance, 16s).effects, ElementsAre(Effect::kCreateAgain));
  EXPECT_EQ(instance.record.state, InstanceState::kRequested);
}

// Bug: while the cloud refused it for a moment, it was sent again after every list.
TEST(AbsentTest, AnUnknownCreateIsSentAgainLessAndLessOften) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(0s));
  instance.deadline = at(1h).mono;
  std::vector<int> sent;
  for (Duration when = 1s; when <= 5min; when += 1s) {
    const auto out = absent_at(instance, when);
    if (out.effects != std::vector{Effect::kCreateAgain}) continue;
    sent.push_back(static_cast<int>(when / 1s));
    (void)create_failed(instance, error(CloudErrorClass::kTransient), at(when + 100ms));
  }
  EXPECT_THAT(sent, ElementsAre(5, 11, 17, 26, 43, 76, 137, 198, 259));
}

TEST(AbsentTest, NoListIsAskedForBeforeItCanDecide) {
  Instance instance = instance_in(InstanceState::kRequested);
  for (int n = 0; n < 7; ++n)
    (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(0s));
  const auto out = absent_at(instance, 10s);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
  EXPECT_EQ(out.list_after, 1min - 10100ms);
}

TEST(AbsentTest, ACreateThatIsUnderWayIsNotJudgedByLists) {
  Instance instance = instance_in(InstanceState::kRequested);
  for (const Duration when : {10s, 20s, 30s}) (void)absent_at(instance, when);
  EXPECT_EQ(instance.record.state, InstanceState::kRequested);
}

// Bug: it stayed requested for ever, counted against every ceiling.
TEST(AbsentTest, ASpotRequestThatTheCloudDroppedIsGone) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)listed(instance, listing(CloudState::kRequested), at(1s).mono, pool(), at(1s));

  (void)absent_at(instance, 10s);
  EXPECT_EQ(instance.record.state, InstanceState::kRequested);
  EXPECT_THAT(absent_at(instance, 20s).effects, Contains(Effect::kWorkLost));
  EXPECT_EQ(instance.record.state, InstanceState::kVanished);
}

TEST(AbsentTest, WhatWasNeverSeenIsWatchedForNotForgotten) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
  (void)terminate(instance, Reason::kKilled, "by root", at(2s));

  (void)absent_at(instance, 10s);
  const auto out = absent_at(instance, 20s);

  EXPECT_EQ(instance.record.state, InstanceState::kAbandoned);
  EXPECT_THAT(out.effects, Not(Contains(Effect::kGone)));
}

// Bug: it was looked for for a day, although the cloud had never made it.
TEST(AbsentTest, WhatWasAlwaysRefusedIsGoneAtOnceWhenItIsGivenUp) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTransient), at(1s));
  ASSERT_EQ(instance.record.state, InstanceState::kRequested) << "it is to be tried again";
  const auto out = terminate(instance, Reason::kKilled, "by root", at(2s));
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
  EXPECT_EQ(instance.record.reason_code, Reason::kKilled);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kGone));
}

TEST(AbsentTest, OfWhatMayHaveBeenMadeARefusalLaterProvesNothing) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
  (void)create_failed(instance, error(CloudErrorClass::kTransient), at(2s));
  (void)terminate(instance, Reason::kKilled, "by root", at(3s));
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
}

}  // namespace
}  // namespace hostler::fleet
