#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A site whose small hosts (2 vcpus) can be switched off, and which keeps `stopped` so.
struct PowerSite : Site {
  explicit PowerSite(std::int32_t stopped) : small(type("small", 2, 8, 100)) {
    snapshot.offerings[small].can_stop = true;
    pool().sizes.stopped = stopped;
  }
  HostView& off(std::uint64_t id) {
    HostView& h = host(id, small, HostPhase::kStopped);
    h.can_stop = h.can_wake = true;
    return h;
  }
  HostView& idle_for(std::uint64_t id, Duration time) {
    HostView& h = host(id, small);
    h.can_stop = true;
    h.since = snapshot.now - time;
    return h;
  }
  const std::uint32_t small;
};

TEST(SwitchedOffTest, IsWokenBeforeAnythingIsCreated) {
  PowerSite site(1);
  site.off(1);
  site.jobs(3, 1);

  const Plan plan = site.plan();

  ASSERT_THAT(plan.wakes, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].host.value, 1U);
  EXPECT_EQ(plan.wakes[0].reason, "2 waiting jobs need it");
  ASSERT_THAT(plan.wakes[0].load, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].load[0].count, 2U);
  EXPECT_THAT(plan.creates, SizeIs(2)) << "one for the third job, one to be switched off";
}

TEST(SwitchedOffTest, TheCheapestThatFitsIsWoken) {
  PowerSite site(3);
  site.off(1).price_per_hour = {200};
  site.off(2).price_per_hour = {100};
  site.off(3).can_wake = false;
  site.jobs(1, 2);
  ASSERT_THAT(site.plan().wakes, SizeIs(1));
  EXPECT_EQ(site.plan().wakes[0].host.value, 2U);
}

TEST(SwitchedOffTest, WorkIsNotWokenForWhatIsTooDear) {
  PowerSite site(1);
  site.off(1);
  site.type("tiny", 1, 8, 10);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.wakes, IsEmpty()) << "ten times the price of what fits";
  EXPECT_THAT(plan.creates, SizeIs(1));
}

TEST(SwitchedOffTest, ADearHostIsWokenWhereEnoughWorkWouldShareIt) {
  PowerSite site(1);
  const auto large = site.type("large", 8, 8, 350);
  HostView& off = site.host(1, large, HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().wakes, IsEmpty()) << "one job, three and a half times the price";

  site.snapshot.classes.clear();
  site.jobs(8, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.wakes, SizeIs(1)) << "else another like it would be bought for them";
  EXPECT_EQ(plan.wakes[0].reason, "8 waiting jobs need it");
}

TEST(SwitchedOffTest, AHostThatIsWokenAnywayIsSharedByWorkItWouldBeTooDearFor) {
  PowerSite site(0);
  const auto large = site.type("large", 8, 8, 350);
  HostView& off = site.host(1, large, HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  site.jobs(1, 1);
  site.jobs(2, 2);
  site.jobs(1, 1, 2);

  const Plan plan = site.plan();

  ASSERT_THAT(plan.wakes, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].reason, "4 waiting jobs need it") << "before and after who woke it";
  EXPECT_THAT(plan.creates, IsEmpty());
}

// Bug: each job counted as if it needed a host of its own, fifteen times what was bought otherwise.
TEST(SwitchedOffTest, NoDearHostIsWokenForWorkThatSharesACheapOne) {
  Site site;
  const auto small = site.type("small", 8, 8, 100);
  HostView& off = site.host(1, site.type("big", 96, 96, 1500), HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  site.pool().sizes.stopped = 1;
  for (int priority = 0; priority < 8; ++priority) site.jobs(1, 1, 1, 7 - priority);

  const Plan plan = site.plan();

  EXPECT_THAT(plan.wakes, IsEmpty());
  ASSERT_THAT(plan.creates, SizeIs(1));
  EXPECT_EQ(plan.creates[0].offering, small);

  site.snapshot.offerings[small].shut = "no capacity";
  EXPECT_THAT(site.plan().wakes, SizeIs(1)) << "else another like it is bought";

  site.snapshot.offerings.push_back(site.snapshot.offerings[small]);
  site.snapshot.offerings.back().zone = "b";
  site.snapshot.offerings.back().shut = "";
  EXPECT_THAT(site.plan().wakes, IsEmpty()) << "another zone has the cheap one";
}

// Bug: each class was judged alone, so another host like it was bought for them together.
TEST(SwitchedOffTest, ADearHostIsWokenForClassesThatShareIt) {
  Site site;
  site.type("small", 2, 8, 100);
  HostView& off = site.host(1, site.type("large", 8, 8, 350), HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  site.pool().sizes.stopped = 1;
  for (int i = 0; i < 70; ++i) site.jobs(1, 96, 1, 9);  // these have nowhere to go
  for (const std::int32_t priority : {3, 2, 1, 0}) site.jobs(1, 2, 1, priority);

  const Plan plan = site.plan();

  ASSERT_THAT(plan.wakes, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].reason, "4 waiting jobs need it");
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST(SwitchedOffTest, MinimumAndStandbyWakeToo) {
  PowerSite site(1);
  site.off(1);
  site.off(2);
  site.pool().sizes.standby = 1;
  const Plan plan = site.plan();
  ASSERT_THAT(plan.wakes, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].reason, "standby of 1 in pool default");
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(SwitchedOffTest, AnIdleHostIsSwitchedOffWhileOneIsMissing) {
  PowerSite site(1);
  site.idle_for(1, 2min);
  site.idle_for(2, 2min);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.switch_offs, SizeIs(1));
  EXPECT_THAT(plan.shutdowns, SizeIs(1)) << "the other is not needed even so";
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST(SwitchedOffTest, AnIdleHostStaysOnForItsTimeout) {
  PowerSite site(1);
  site.idle_for(1, 59s);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.switch_offs, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty()) << "it will be the one";
}

TEST(SwitchedOffTest, TheNumberIsMadeWithoutAnyWork) {
  PowerSite site(2);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.creates, SizeIs(2));
  EXPECT_EQ(plan.creates[0].reason, "switched-off standby of 2 in pool default");
  site.apply(plan);
  EXPECT_THAT(site.plan().creates, IsEmpty());
  EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << "they boot to be switched off";
}

TEST(SwitchedOffTest, IsNeverMadeOfWhatCannotBeStopped) {
  PowerSite site(1);
  site.snapshot.offerings[site.small].can_stop = false;
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.idle_for(1, 2min).can_stop = false;
  EXPECT_THAT(site.plan().switch_offs, IsEmpty());
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1));
}

TEST(SwitchedOffTest, WhatIsBeyondTheNumberGoes) {
  PowerSite site(1);
  site.off(1);
  site.off(2);
  site.off(3).kept = true;
  const Plan plan = site.plan();
  EXPECT_EQ(
      ended(plan),
      (std::vector<std::pair<std::uint64_t, model::Reason>>{{1, model::Reason::kStandbySurplus}}));
}

TEST(SwitchedOffTest, DoesNotCountForMaxUntilItIsWoken) {
  PowerSite site(2);
  site.pool().sizes.max = 1;
  site.off(1);
  site.off(2);
  site.jobs(4, 1);
  EXPECT_THAT(site.plan().wakes, SizeIs(1));
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.pool().sizes.stopped = 0;
  EXPECT_THAT(site.plan().wakes, IsEmpty()) << "beyond the number they count";
}

}  // namespace
}  // namespace hostler::scheduler
