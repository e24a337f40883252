#include "core/fleet/uses.h"

#include <gmock/gmock.h>

#include "tests/unit/fleet/instances.h"

/// How often a host may be used: PoolPolicy::uses_max.
namespace hostler::fleet {
namespace {

using model::kUsesUnknown;
using testing::HasSubstr;

model::PoolPolicy limited_to(std::int32_t uses_max) {
  auto out = pool();
  out.uses_max = uses_max;
  return out;
}

Instance used(std::uint32_t uses, InstanceState state = InstanceState::kBusy) {
  Instance out = instance_in(state);
  out.record.uses = uses;
  return out;
}

TEST(UsesTest, EachPlacementIsAUseAsLongAsThePoolHasALimit) {
  model::InstanceRecord record;
  EXPECT_EQ(uses_left(record, limited_to(2)), 2);
  EXPECT_TRUE(count_use(record, limited_to(2)));
  EXPECT_EQ(uses_left(record, limited_to(2)), 1);
  EXPECT_TRUE(count_use(record, limited_to(2)));
  EXPECT_TRUE(is_used_up(record, limited_to(2)));
  EXPECT_EQ(record.uses, 2U);
  EXPECT_FALSE(is_used_up(record, limited_to(3))) << "the limit was raised";
  EXPECT_EQ(uses_left(record, limited_to(1)), 0) << "it was lowered";
}

TEST(UsesTest, WithoutALimitNothingIsCountedAndALaterLimitFindsTheHostUsedUp) {
  model::InstanceRecord record;
  EXPECT_EQ(uses_left(record, limited_to(0)), INT32_MAX);
  EXPECT_TRUE(count_use(record, limited_to(0))) << "that it was used is durable";
  EXPECT_EQ(record.uses, kUsesUnknown);
  EXPECT_FALSE(count_use(record, limited_to(0))) << "once";
  EXPECT_FALSE(count_use(record, limited_to(7)));
  EXPECT_FALSE(is_used_up(record, limited_to(0)));
  EXPECT_TRUE(is_used_up(record, limited_to(1'000'000)));
}

// Kip, weakness 9: "return unused" never works.
TEST(UsesTest, ReturnUnusedLeavesTheHostAsItWas) {
  model::InstanceRecord record;
  EXPECT_FALSE(uncount_use(record));
  (void)count_use(record, limited_to(1));
  EXPECT_TRUE(uncount_use(record));
  EXPECT_EQ(uses_left(record, limited_to(1)), 1);
  record.uses = kUsesUnknown;
  EXPECT_FALSE(uncount_use(record));
  EXPECT_TRUE(is_used_up(record, limited_to(1)));
}

// Kip, weakness 8: dirty reuse.
TEST(UsesTest, NoDirtyReuseAHostThatHasHadItsUsesEndsOnceItIsEmpty) {
  Instance instance = used(1);
  EXPECT_TRUE(work_changed(instance, limited_to(1), at(1s)).effects.empty()) << "work is on it";
  clear(instance);
  const auto out = work_changed(instance, limited_to(1), at(2s));
  EXPECT_EQ(out.reason_code, "used_up");
  EXPECT_THAT(out.reason, HasSubstr("1 of 1 uses"));
  EXPECT_THAT(out.effects, testing::Contains(Effect::kDestroy));

  Instance other = used(1);
  clear(other);
  (void)work_changed(other, limited_to(2), at(2s));
  EXPECT_EQ(other.record.state, InstanceState::kIdle) << "one is left";
}

TEST(UsesTest, AnIdleHostEndsWhenALimitFindsItUsedUpUnlessItIsHeldOrItsWorkIsUnknown) {
  Instance held = used(kUsesUnknown, InstanceState::kIdle);
  held.record.idle_behavior = IdleBehavior::kHold;
  EXPECT_FALSE(work_changed(held, limited_to(1), at(1s)).changed);
  Instance restored = used(kUsesUnknown, InstanceState::kIdle);
  restored.record.restored = true;
  EXPECT_FALSE(work_changed(restored, limited_to(1), at(1s)).changed);
  Instance idle = used(kUsesUnknown, InstanceState::kIdle);
  EXPECT_EQ(work_changed(idle, limited_to(1), at(1s)).reason_code, "used_up");
}

TEST(UsesTest, AUsedHostThatItsCloudHasStoppedIsNotKeptForLater) {
  Instance instance = used(1, InstanceState::kStopped);
  const auto out =
      listed(instance, listing(CloudState::kStopped), at(1s).mono, limited_to(1), at(1s), 10s);
  EXPECT_EQ(out.reason_code, "used_up");
  Instance fresh = used(0, InstanceState::kStopped);
  (void)listed(fresh, listing(CloudState::kStopped), at(1s).mono, limited_to(1), at(1s), 10s);
  EXPECT_EQ(fresh.record.state, InstanceState::kStopped);
}

// Kip, weakness 8: a restart took used hosts back to those that are available.
TEST(UsesTest, NoDirtyReuseAfterARestart) {
  Instance instance = used(1, InstanceState::kIdle);
  (void)adopt(instance, limited_to(1), 24h, false, at(1s));
  (void)ready(instance, {"boot-1", 1, 0, {}}, at(2s));
  EXPECT_TRUE(is_used_up(instance.record, limited_to(1)));
  EXPECT_EQ(work_changed(instance, limited_to(1), at(2s)).reason_code, "used_up");
}

TEST(UsesTest, NoDirtyReuseOfAHostThatNobodyConnectsTo) {
  auto lent = limited_to(1);
  lent.readiness = model::Readiness::kCloud;
  Instance instance = used(1, InstanceState::kIdle);
  instance.link = {};
  (void)adopt(instance, lent, 24h, false, at(1s));
  const auto out = listed(instance, listing(CloudState::kRunning), at(2s).mono, lent, at(2s));
  EXPECT_EQ(out.reason_code, "used_up");
}

}  // namespace
}  // namespace hostler::fleet
