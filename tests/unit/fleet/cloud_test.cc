#include "tests/unit/fleet/instances.h"

/// What lists, creates and destroys make of an instance.
namespace hostler::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Duration kConsistency = 5s;

Outcome absent_at(Instance& instance, Duration when) {
  return absent(instance, at(when).mono, kConsistency, at(when + 100ms));
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
      {S::kBusy, C::kStopped, S::kBusy},  // Its work is not given up before the probe timeout.
      {S::kStopped, C::kStopped, S::kStopped},
      {S::kTerminating, C::kRunning, S::kTerminating},
      {S::kTerminating, C::kFailed, S::kTerminating},
      {S::kAbandoned, C::kPending, S::kTerminating},
      {S::kAbandoned, C::kRequested, S::kTerminating},
      {S::kGone, C::kRunning, S::kGone},
  };
  for (const Row& row : table) {
    Instance instance = instance_in(row.before);
    const auto out = listed(instance, listing(row.seen), at(1s).mono, pool(), at(1s));
    EXPECT_EQ(instance.record.state, row.after)
        << to_string(row.before) << " listed as " << to_string(row.seen);
    const bool destroyed =
        row.after == InstanceState::kTerminating && row.before != InstanceState::kTerminating;
    EXPECT_EQ(testing::Value(out.effects, Contains(Effect::kDestroy)), destroyed)
        << to_string(row.before) << " listed as " << to_string(row.seen);
  }
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
  Instance instance = instance_in(InstanceState::kIdle);
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

// Bug: shown after its machine, it took its id back each time, and was destroyed in its stead.
TEST(ListedTest, ARequestShownBesideItsMachineSaysOnlyThatItIsThere) {
  Instance instance = instance_in(InstanceState::kRequested);
  auto request = listing(CloudState::kRequested);
  request.id = "sir-7";
  request.address.clear();
  auto machine = listing();
  machine.request_id = "sir-7";
  for (const auto& seen : {request, machine, request})
    (void)listed(instance, seen, at(1s).mono, pool(), at(1s));
  EXPECT_EQ(instance.record.provider_id, "i-7");
  EXPECT_EQ(instance.record.request_id, "sir-7");
  EXPECT_FALSE(instance.unfulfilled_spot);

  (void)absent(instance, at(2s).mono, 0s, at(2s));
  const auto again = listed(instance, request, at(3s).mono, pool(), at(3s));
  EXPECT_EQ(instance.record.absent_sightings, 0U);
  EXPECT_TRUE(again.changed);
}

TEST(ListedTest, TakesTheSpotRequestsNewIdOnce) {
  Instance instance = instance_in(InstanceState::kRequested);
  auto request = listing(CloudState::kRequested);
  request.id = "sir-1";
  request.address.clear();
  (void)listed(instance, request, at(1s).mono, pool(), at(1s));
  EXPECT_TRUE(instance.unfulfilled_spot);

  auto fulfilled = listing();
  fulfilled.request_id = "sir-1";
  (void)listed(instance, fulfilled, at(2s).mono, pool(), at(2s));

  EXPECT_FALSE(instance.unfulfilled_spot);
  EXPECT_EQ(instance.record.provider_id, "i-7");
  EXPECT_EQ(instance.record.request_id, "sir-1");
}

// Bug: a create that ended well without a record, of an instance that was gone before any list
// showed it, stayed requested for ever, and the job that it was for waited for it.
TEST(CreateTest, OneThatEndedWellButWasNeverSeenIsGivenUpInTheEnd) {
  Instance instance = instance_in(InstanceState::kRequested);
  instance.record.provider_id.clear();

  const auto out = create_answered(instance, at(1s));

  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
  EXPECT_TRUE(instance.create_outcome_unknown);
  EXPECT_NE(instance.deadline, kNever);
}

// Bug: an adopted spot request stayed "outcome unknown" though the cloud showed it, and was given
// up and destroyed at the boot timeout.
TEST(ListedTest, ASpotRequestThatTheCloudShowsIsNoUnknownCreate) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)adopt(instance, pool(), 24h, false, at(0s));
  ASSERT_TRUE(instance.create_outcome_unknown);

  (void)listed(instance, listing(CloudState::kRequested), at(1s).mono, pool(), at(1s));

  EXPECT_FALSE(instance.create_outcome_unknown);
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
    Instance instance = instance_in(state);
    EXPECT_THAT(absent_at(instance, 10s).effects, ElementsAre(Effect::kList)) << to_string(state);
    EXPECT_EQ(instance.record.state, state);

    const auto out = absent_at(instance, 20s);
    EXPECT_EQ(instance.record.state, InstanceState::kGone) << to_string(state);
    EXPECT_THAT(out.effects, ElementsAre(Effect::kDisconnect, Effect::kGone));
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
  instance.known_at = at(10s).mono;
  (void)absent_at(instance, 9s);
  (void)absent_at(instance, 10s);
  EXPECT_EQ(instance.record.absent_sightings, 0U);
}

TEST(AbsentTest, ErasesSecretsAndKeepsWhoEndedIt) {
  Instance instance = instance_in(InstanceState::kIdle);
  (void)terminate(instance, "killed", "by root", at(1s));
  (void)absent_at(instance, 10s);
  const auto out = absent_at(instance, 20s);

  EXPECT_EQ(out.event, "gone");
  EXPECT_EQ(out.reason_code, "killed");
  EXPECT_EQ(out.reason, "by root");
  EXPECT_EQ(instance.record.identity, model::HostIdentity{});
}

TEST(AbsentTest, WhatNobodyEndedHasVanished) {
  Instance instance = instance_in(InstanceState::kBusy);
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
  EXPECT_THAT(absent_at(instance, 20s).effects, Contains(Effect::kGone));
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
}

TEST(AbsentTest, WhatWasNeverSeenIsWatchedForNotForgotten) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
  (void)terminate(instance, "killed", "by root", at(2s));

  (void)absent_at(instance, 10s);
  const auto out = absent_at(instance, 20s);

  EXPECT_EQ(instance.record.state, InstanceState::kAbandoned);
  EXPECT_THAT(out.effects, Not(Contains(Effect::kGone)));
}

TEST(CreateTest, EachErrorHasItsReaction) {
  struct Row {
    CloudErrorClass cls;
    InstanceState after;
  };
  using C = CloudErrorClass;
  const std::vector<Row> table{
      {C::kTransient, InstanceState::kRequested}, {C::kTimeout, InstanceState::kRequested},
      {C::kCancelled, InstanceState::kRequested}, {C::kRateLimit, InstanceState::kRequested},
      {C::kQuota, InstanceState::kGone},          {C::kCapacity, InstanceState::kGone},
      {C::kInvalid, InstanceState::kGone},        {C::kAuth, InstanceState::kGone},
      {C::kUnsupported, InstanceState::kGone},    {C::kConflict, InstanceState::kGone},
      {C::kInternal, InstanceState::kGone},       {C::kMisbehaving, InstanceState::kGone},
  };
  for (const Row& row : table) {
    Instance instance = instance_in(InstanceState::kRequested);
    const auto out = create_failed(instance, error(row.cls), at(1s));
    EXPECT_EQ(instance.record.state, row.after) << to_string(row.cls);
    EXPECT_EQ(instance.deadline == kNever, row.after == InstanceState::kGone);
    EXPECT_EQ(testing::Value(out.effects, Contains(Effect::kGone)),
              row.after == InstanceState::kGone);

    // Where the outcome is unknown the class does not matter: unknown is never absent.
    Instance unknown = instance_in(InstanceState::kRequested);
    const auto looks = create_failed(unknown, error(row.cls, true), at(1s));
    EXPECT_EQ(unknown.record.state, InstanceState::kRequested) << to_string(row.cls);
    EXPECT_THAT(looks.effects, ElementsAre(Effect::kList));
  }
}

TEST(CreateTest, WaitsLongerEachTimeThenGivesUp) {
  Instance instance = instance_in(InstanceState::kRequested);
  for (const Duration wait : {1s, 2s, 4s, 8s, 16s}) {
    (void)create_failed(instance, error(CloudErrorClass::kTransient), at(1h));
    EXPECT_EQ(instance.deadline, at(1h + wait).mono);
    EXPECT_THAT(due(instance, pool(), at(1h + wait)).effects, ElementsAre(Effect::kCreateAgain));
  }
  const auto out = create_failed(instance, error(CloudErrorClass::kTransient), at(2h));
  EXPECT_EQ(instance.record.state, InstanceState::kGone);
  EXPECT_EQ(out.event, "create_refused");
  EXPECT_THAT(out.reason, HasSubstr("the cloud says no"));
}

TEST(CreateTest, WaitsAsLongAsTheCloudAsks) {
  Instance instance = instance_in(InstanceState::kRequested);
  auto later = error(CloudErrorClass::kRateLimit);
  later.retry_after = 90s;
  (void)create_failed(instance, later, at(1s));
  EXPECT_EQ(instance.deadline, at(91s).mono);
}

TEST(CreateTest, ARefusalAfterAnUnknownTryProvesNothing) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
  const auto out = create_failed(instance, error(CloudErrorClass::kQuota), at(20s));

  EXPECT_EQ(instance.record.state, InstanceState::kRequested);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
}

// Bug: asked for again and refused, a spot request that a list had shown meanwhile was forgotten.
TEST(CreateTest, ARefusalDoesNotForgetASpotRequestThatWasSeen) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
  (void)listed(instance, listing(CloudState::kRequested), at(10s).mono, pool(), at(10s));
  const auto out = create_failed(instance, error(CloudErrorClass::kAuth), at(20s));

  EXPECT_EQ(instance.record.state, InstanceState::kRequested);
  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
}

// Bug: killed while its create was under way, and that refused, it was watched for as abandoned for
// a day, counted against every ceiling.
TEST(CreateTest, ARefusalEndsWhatWasKilledMeanwhile) {
  Instance instance = instance_in(InstanceState::kRequested);
  (void)terminate(instance, "killed", "by root", at(1s));
  const auto out = create_failed(instance, error(CloudErrorClass::kCapacity), at(2s));

  EXPECT_EQ(instance.record.state, InstanceState::kGone);
  EXPECT_EQ(out.reason_code, "killed");
  EXPECT_THAT(out.effects, ElementsAre(Effect::kGone));
}

TEST(CreateTest, AnUnknownOutcomeDoesNotEndWhatWasKilledMeanwhile) {
  for (const bool before : {true, false}) {
    Instance instance = instance_in(InstanceState::kRequested);
    if (before) (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
    (void)terminate(instance, "killed", "by root", at(2s));
    (void)create_failed(instance, error(CloudErrorClass::kTimeout, !before), at(3s));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  }
}

TEST(DestroyTest, IsRetriedWithBackOffUntilTheCloudAgrees) {
  Instance instance = instance_in(InstanceState::kTerminating);
  const auto refusal = error(CloudErrorClass::kInternal);
  for (const Duration wait : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    const auto out = destroy_answered(instance, &refusal, pool(), at(1h));
    EXPECT_EQ(out.event, "destroy_refused");
    EXPECT_EQ(instance.deadline, at(1h + wait).mono);
    EXPECT_THAT(due(instance, pool(), at(1h + wait)).effects,
                ElementsAre(Effect::kDestroy, Effect::kList));
  }
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
}

TEST(DestroyTest, OnlyListsSayGone) {
  Instance instance = instance_in(InstanceState::kTerminating);
  const auto not_found = error(CloudErrorClass::kNotFound);
  for (const auto* answer : {&not_found, static_cast<const model::CloudError*>(nullptr)}) {
    const auto out = destroy_answered(instance, answer, pool(), at(1s));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
    EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
    EXPECT_NE(instance.deadline, kNever) << "it must be tried again if the list still shows it";
  }
}

TEST(BackoffTest, DoublesUpToItsLongest) {
  EXPECT_EQ(backoff(0, 1s, 1min), 1s);
  EXPECT_EQ(backoff(1, 1s, 1min), 1s);
  EXPECT_EQ(backoff(6, 1s, 1min), 32s);
  EXPECT_EQ(backoff(7, 1s, 1min), 1min);
  EXPECT_EQ(backoff(UINT32_MAX, 1s, 1min), 1min);
}

}  // namespace
}  // namespace hostler::fleet
