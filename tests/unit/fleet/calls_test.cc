#include "tests/unit/fleet/instances.h"

/// What the answers to creates and destroys make of an instance.
namespace hostler::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Bug: a create that ended well without a record, of an instance that was gone before any list
// showed it, stayed requested for ever, and the job that it was for waited for it.
TEST(CreateTest, OneThatEndedWellButWasNeverSeenIsGivenUpInTheEnd) {
  Instance instance = instance_in(InstanceState::kRequested);
  instance.record.provider_id.clear();

  const auto out = create_answered(instance, at(1s));

  EXPECT_THAT(out.effects, ElementsAre(Effect::kList));
  EXPECT_TRUE(instance.creating.is_outcome_unknown());
  EXPECT_NE(instance.deadline, kNever);
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

// Bug: a driver that was killed between the two calls that make an instance left one that never
// booted, and its job waited for the whole boot timeout.
TEST(CreateTest, OneThatWasCutOffIsRepeatedWhileTheCloudShowsItPending) {
  model::ListedInstance pending;
  pending.id = "i-1";
  pending.state = model::CloudState::kPending;
  Instance instance = instance_in(InstanceState::kRequested);
  instance.record.provider_id.clear();
  (void)listed(instance, pending, at(0s).mono, pool(), at(0s));
  ASSERT_EQ(instance.record.state, InstanceState::kBooting);

  (void)create_failed(instance, error(CloudErrorClass::kInternal, true), at(1s));

  EXPECT_THAT(listed(instance, pending, at(1s).mono, pool(), at(1500ms)).effects,
              Not(Contains(Effect::kFinishCreate)))
      << "after a pause";
  EXPECT_THAT(listed(instance, pending, at(2s).mono, pool(), at(2s)).effects,
              Contains(Effect::kFinishCreate));
  (void)create_answered(instance, at(3s));
  EXPECT_THAT(listed(instance, pending, at(9s).mono, pool(), at(9s)).effects,
              Not(Contains(Effect::kFinishCreate)));
}

TEST(CreateTest, OneThatRunsIsNotRepeated) {
  Instance instance = instance_in(InstanceState::kBooting);
  (void)create_failed(instance, error(CloudErrorClass::kInternal, true), at(1s));
  model::ListedInstance seen;
  seen.id = instance.record.provider_id;
  seen.state = model::CloudState::kRunning;

  EXPECT_THAT(listed(instance, seen, at(5s).mono, pool(), at(5s)).effects,
              Not(Contains(Effect::kFinishCreate)));
  EXPECT_FALSE(instance.creating.is_outcome_unknown());
}

TEST(CreateTest, OneThatARestartInterruptedIsRepeatedOnceTheCloudShowsItPending) {
  model::ListedInstance pending;
  pending.id = "i-1";
  pending.state = model::CloudState::kPending;
  for (const auto state : {InstanceState::kRequested, InstanceState::kBooting}) {
    Instance instance = instance_in(state);
    instance.record.verified = {};
    (void)adopt(instance, pool(), 24h, false, at(1h));
    EXPECT_THAT(listed(instance, pending, at(2h).mono, pool(), at(2h)).effects,
                Contains(Effect::kFinishCreate));
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
  EXPECT_EQ(out.event, Event::kCreateRefused);
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
  (void)terminate(instance, Reason::kKilled, "by root", at(1s));
  const auto out = create_failed(instance, error(CloudErrorClass::kCapacity), at(2s));

  EXPECT_EQ(instance.record.state, InstanceState::kGone);
  EXPECT_EQ(out.reason_code, "killed");
  EXPECT_THAT(out.effects, ElementsAre(Effect::kGone));
}

TEST(CreateTest, AnUnknownOutcomeDoesNotEndWhatWasKilledMeanwhile) {
  for (const bool before : {true, false}) {
    Instance instance = instance_in(InstanceState::kRequested);
    if (before) (void)create_failed(instance, error(CloudErrorClass::kTimeout, true), at(1s));
    (void)terminate(instance, Reason::kKilled, "by root", at(2s));
    (void)create_failed(instance, error(CloudErrorClass::kTimeout, !before), at(3s));
    EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
  }
}

TEST(DestroyTest, IsRetriedWithBackOffUntilTheCloudAgrees) {
  Instance instance = instance_in(InstanceState::kTerminating);
  const auto refusal = error(CloudErrorClass::kInternal);
  for (const Duration wait : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    const auto out = destroy_answered(instance, &refusal, pool(), at(1h));
    EXPECT_EQ(out.event, Event::kDestroyRefused);
    EXPECT_EQ(instance.deadline, at(1h + wait).mono);
    EXPECT_THAT(due(instance, pool(), at(1h + wait)).effects,
                ElementsAre(Effect::kDestroy, Effect::kList));
  }
  EXPECT_EQ(instance.record.state, InstanceState::kTerminating);
}

// Bug: nobody was told, and the instance cost money for ever.
TEST(DestroyTest, OneThatTheCloudAcceptsAndIgnoresIsReportedOnce) {
  Instance instance = instance_in(InstanceState::kTerminating);
  const auto refusal = error(CloudErrorClass::kAuth);
  (void)destroy_answered(instance, &refusal, pool(), at(1min));
  for (int n = 2; n <= 4; ++n) {
    EXPECT_FALSE(listed(instance, listing(), at(n * 1min).mono, pool(), at(n * 1min)).event);
    (void)destroy_answered(instance, nullptr, pool(), at(n * 1min));
  }
  EXPECT_FALSE(listed(instance, listing(), at(3min).mono, pool(), at(5min)).event)
      << "a list from before the third one";
  EXPECT_FALSE(
      listed(instance, listing(CloudState::kTerminating), at(5min).mono, pool(), at(5min)).event)
      << "it is on its way";

  const auto out = listed(instance, listing(), at(6min).mono, pool(), at(6min));
  EXPECT_EQ(out.event, Event::kDestroyIgnored);
  EXPECT_THAT(out.reason, HasSubstr("accepted 3 destroys"));
  EXPECT_THAT(instance.record.last_text, HasSubstr("lists it as running"));
  EXPECT_TRUE(out.changed);
  EXPECT_FALSE(listed(instance, listing(), at(7min).mono, pool(), at(7min)).event);
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
