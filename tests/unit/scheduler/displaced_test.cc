// Work on hosts that will be interrupted: room for it is kept or bought before it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class DisplacedTest : public testing::Test {
 protected:
  DisplacedTest() : small(site.type("small", 2, 4, 60)) {}

  /// Jobs on hosts that will be interrupted.
  demand::ClassId displaced(std::uint64_t count, std::int32_t vcpus) {
    const demand::ClassId cls = site.jobs(count, vcpus);
    auto& view = site.snapshot.classes.back();
    view.displaced = true;
    view.heads.clear();
    view.oldest = {};
    return cls;
  }
  HostView& interrupted(std::uint64_t id) {
    HostView& host = site.host(id, small);
    host.takes_work = false;
    host.cordoned = host.busy = true;
    host.free = {};
    return host;
  }
  Plan plan() { return make_plan(site.snapshot, site.policy); }

  Site site;
  std::uint32_t small;
};

TEST_F(DisplacedTest, AHostIsBoughtForItAndNothingOfItIsPlaced) {
  interrupted(1);
  displaced(1, 2);
  const Plan made = plan();
  EXPECT_THAT(made.places, IsEmpty());
  EXPECT_THAT(made.waiting, IsEmpty()) << "it does not wait";
  ASSERT_THAT(made.creates, SizeIs(1));
  EXPECT_THAT(made.creates[0].reason,
              HasSubstr("1 job on hosts that will be interrupted needs it"));
}

TEST_F(DisplacedTest, AHostThatComesForItIsEnough) {
  interrupted(1);
  const demand::ClassId cls = displaced(1, 2);
  site.host(2, small, HostPhase::kComing).load = {{cls, 1}};
  EXPECT_THAT(plan().creates, IsEmpty());
}

TEST_F(DisplacedTest, RoomOnAReadyHostIsKeptForIt) {
  interrupted(1);
  displaced(1, 2);
  site.host(2, small).since = site.snapshot.now - 1h;
  const Plan made = plan();
  EXPECT_THAT(made.creates, IsEmpty());
  EXPECT_THAT(made.shutdowns, IsEmpty()) << "idle for long, and needed soon";
}

TEST_F(DisplacedTest, AReplacementThatCannotBeReachedForAMomentIsKeptAndAnotherIsBought) {
  interrupted(1);
  displaced(1, 2);
  for (const std::uint64_t id : {2, 3}) {
    HostView& lost = site.host(id, small);
    lost.takes_work = false;
    lost.since = site.snapshot.now - 1h;
    lost.unreachable_since = site.snapshot.now - 1s;
  }
  Plan made = plan();
  EXPECT_THAT(made.creates, SizeIs(1));
  EXPECT_THAT(ended(made), ElementsAre(Pair(3, model::Reason::kIdle))) << "one is enough";
  site.snapshot.hosts[1].unreachable_since = site.snapshot.now - site.pool().probe_timeout;
  made = plan();
  EXPECT_THAT(ended(made), ElementsAre(Pair(2, model::Reason::kUnreachable))) << "3 is kept now";
}

TEST_F(DisplacedTest, WhatWaitsAlreadyGoesFirstAndBothAreBoughtFor) {
  interrupted(1);
  site.jobs(1, 2);
  displaced(1, 2);
  site.host(2, small);
  const Plan made = plan();
  ASSERT_THAT(made.places, SizeIs(1));
  EXPECT_EQ(made.places[0].cls, 0U);
  EXPECT_THAT(made.creates, SizeIs(1));
}

TEST_F(DisplacedTest, TheMaximumOfThePoolHolds) {
  interrupted(1);
  displaced(1, 2);
  site.pool().sizes.max = 1;
  EXPECT_THAT(plan().creates, IsEmpty());
}

TEST_F(DisplacedTest, AnEmptyHostThatWillBeInterruptedEndsAndTheMinimumIsFilledAgain) {
  HostView& host = interrupted(1);
  host.busy = false;
  site.pool().sizes.min = 1;
  const Plan made = plan();
  ASSERT_THAT(made.shutdowns, SizeIs(1));
  EXPECT_EQ(made.shutdowns[0].code, model::Reason::kInterrupted);
  EXPECT_THAT(made.creates, SizeIs(1));
}

TEST_F(DisplacedTest, OneThatAnAdminHoldsStays) {
  HostView& host = interrupted(1);
  host.busy = false;
  host.kept = true;
  EXPECT_THAT(plan().shutdowns, IsEmpty());
}

}  // namespace
}  // namespace hostler::scheduler
