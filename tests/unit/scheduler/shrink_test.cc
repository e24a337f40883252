#include "core/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(ShrinkTest, ShutsDownAnIdleHostExactlyAtItsTimeout) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100)).since = site.snapshot.now - 1min + 1ns;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.snapshot.hosts[0].since = site.snapshot.now - 1min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kIdle)));
}

TEST(ShrinkTest, GoesInTheOrderOfTheDesign) {
  Site site;
  const auto small = site.type("small", 1, 2, 100), dear = site.type("dear", 2, 4, 300),
             spot = site.type("spot", 1, 2, 10, Market::kSpot);
  const Mono long_ago = site.snapshot.now - 59min;
  for (const std::uint64_t id : {1U, 2U}) {
    HostView& booting = site.host(id, small, HostPhase::kComing);
    booting.created = site.snapshot.now - (id == 1 ? 5s : 2s);
    booting.work_cancelled = true;
  }
  site.host(3, small).draining = true;
  site.host(4, small).since = long_ago;
  site.host(5, dear).since = long_ago;
  site.host(6, small).unreachable_since = long_ago;
  site.host(8, spot, HostPhase::kComing).unfulfilled_spot = true;
  site.host(9, small, HostPhase::kStopped);

  EXPECT_THAT(ended(site.plan()),
              ElementsAre(Pair(8, model::Reason::kUnwantedSpot), Pair(9, model::Reason::kFailed),
                          Pair(6, model::Reason::kUnreachable), Pair(5, model::Reason::kIdle),
                          Pair(4, model::Reason::kIdle), Pair(3, model::Reason::kDrained),
                          Pair(2, model::Reason::kBootingSurplus),
                          Pair(1, model::Reason::kBootingSurplus)));
}

TEST(ShrinkTest, NeverShutsDownWhatIsBusyOrHeld) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.host(1, small).since = Mono(0s);
  site.occupy(site.snapshot.hosts.back(), {.vcpus = 1});
  site.host(2, small).since = Mono(0s);
  site.snapshot.hosts.back().kept = true;
  site.host(3, small, HostPhase::kComing).busy = true;
  site.host(4, small, HostPhase::kStopped).kept = true;
  site.host(5, small).draining = true;
  site.snapshot.hosts.back().busy = true;

  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(ShrinkTest, DoesNotShutDownWhatItHasJustGivenWork) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100)).since = Mono(0s);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, SizeIs(1));
  EXPECT_THAT(plan.shutdowns, IsEmpty());
}

TEST(ShrinkTest, AnUnreachableHostIsKeptUntilTheProbeTimeout) {
  Site site;
  HostView& host = site.host(1, site.type("small", 2, 4, 100));
  site.occupy(host, {.vcpus = 1});
  host.unreachable_since = site.snapshot.now - 10min + 1ns;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  site.snapshot.hosts[0].unreachable_since = site.snapshot.now - 10min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kUnreachable)));
}

TEST(ShrinkTest, KeepsMinimumAndStandby) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  for (const std::uint64_t id : {1U, 2U, 3U}) site.host(id, small).since = Mono(0s);
  site.pool().sizes.min = 2;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1));
  site.pool().sizes.min = 0;
  site.pool().sizes.standby = 3;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: with a reserve of one, each job that was shorter than a boot had a host made and ended.
TEST(ShrinkTest, AsManyAsAreKeptInReserveMayFinishBooting) {
  for (const bool off : {false, true}) {
    Site site;
    const auto small = site.type("small", 2, 4, 100);
    site.snapshot.offerings[small].can_stop = true;
    (off ? site.pool().sizes.stopped : site.pool().sizes.standby) = 1;
    site.host(1, small).can_stop = true;  // the job on it has just ended
    site.host(2, small, HostPhase::kComing);
    EXPECT_THAT(site.plan().shutdowns, IsEmpty());

    site.host(3, small, HostPhase::kComing);
    for (HostView& h : site.snapshot.hosts) h.work_cancelled = h.phase == HostPhase::kComing;
    EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(3, model::Reason::kBootingSurplus)));
  }
}

// Bug: it was compared with what cannot be switched off, which was cheaper, and ended.
TEST(ShrinkTest, WhatIsMadeToBeSwitchedOffMayFinishThoughOthersAreCheaper) {
  Site site;
  site.type("cheap", 2, 4, 100);
  const auto stops = site.type("stops", 2, 4, 150);
  site.snapshot.offerings[stops].can_stop = true;
  site.pool().sizes.stopped = 1;
  site.host(1, stops).can_stop = true;
  site.host(2, stops, HostPhase::kComing);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(ShrinkTest, AReadyHostOfTheMinimumStaysRatherThanOneThatBoots) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.pool().sizes.min = 1;
  site.host(1, small).since = Mono(0s);
  site.host(2, small, HostPhase::kComing).work_cancelled = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kBootingSurplus)));
}

TEST(ShrinkTest, AHostThatBootsIsKeptUntilItIsReadyAndIdle) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100), HostPhase::kComing).created = Mono(0s);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << "nothing waits for it any more";

  HostView& host = site.snapshot.hosts[0];
  host.phase = HostPhase::kReady, host.takes_work = true;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  host.since = site.snapshot.now - 1min;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kIdle)));
}

TEST(ShrinkTest, AHostWhoseWorkWasCancelledIsKeptIfOtherWorkWaitsForIt) {
  Site site;
  site.host(1, site.type("small", 2, 4, 100), HostPhase::kComing).work_cancelled = true;
  site.jobs(1, 1);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: it kept the host of the job from being bought.
TEST(ShrinkTest, NothingFinishesForTheReserveWhereWorkWaitsAtACeiling) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.type("big", 16, 16, 400);
  site.pool().sizes.max = 2;
  site.pool().sizes.standby = 1;
  site.host(1, small);
  site.host(2, small, HostPhase::kComing);
  site.jobs(1, 16);
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kBootingSurplus)));
}

TEST(ShrinkTest, OnlyWhatTheReserveLacksMayFinishBooting) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.snapshot.offerings[small].can_stop = true;
  site.pool().sizes.stopped = 1;
  HostView& off = site.host(1, small, HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  site.host(2, small).can_stop = true;
  site.host(3, small, HostPhase::kComing).work_cancelled = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(3, model::Reason::kBootingSurplus)));
}

// Bug: the idle one went, and for the rest of a boot there was no reserve.
TEST(ShrinkTest, AReadyReserveStaysUntilTheNextIsReady) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.pool().sizes.standby = 1;
  site.host(1, small).since = Mono(0s);
  HostView& next = site.host(2, small, HostPhase::kComing);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  next.phase = HostPhase::kReady;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kIdle)));
}

// Bug: it finished, outlived the cheap one and was the reserve for ever.
TEST(ShrinkTest, NoDearHostBecomesTheReserve) {
  Site site;
  site.pool().sizes.max = 2;
  const auto small = site.type("small", 2, 4, 100);
  const auto dear = site.type("dear", 8, 8, 900);
  site.pool().sizes.standby = 1;
  site.host(1, small);
  site.host(2, dear, HostPhase::kComing).work_cancelled = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kBootingSurplus)));

  site.snapshot.hosts[1].offering = small;
  site.snapshot.hosts[1].price_per_hour = {100};
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

// Bug: with a minimum above the standby, one plan made a host and the next ended it, for ever.
TEST(ShrinkTest, WhatIsMadeForMinimumAndReserveIsNotEnded) {
  for (const auto& [min, standby, stopped] :
       {std::tuple(2, 0, 1), std::tuple(2, 1, 1), std::tuple(1, 2, 2), std::tuple(0, 1, 1)}) {
    Site site;
    site.snapshot.offerings[site.type("small", 2, 4, 100)].can_stop = true;
    site.pool().sizes.min = min;
    site.pool().sizes.standby = standby;
    site.pool().sizes.stopped = stopped;
    const Plan first = site.plan();
    EXPECT_EQ(first.creates.size(), static_cast<std::size_t>(std::max(min, standby) + stopped));
    site.apply(first);

    const Plan second = site.plan();
    EXPECT_THAT(second.creates, IsEmpty());
    EXPECT_THAT(second.shutdowns, IsEmpty());
  }
}

TEST(ShrinkTest, StaysBelowTheCeilingOfDestroys) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  for (const std::uint64_t id : {1U, 2U, 3U}) site.host(id, small).since = Mono(0s);
  site.snapshot.sets[0].destroys = 2;
  EXPECT_THAT(ended(site.plan()),
              ElementsAre(Pair(1, model::Reason::kIdle), Pair(2, model::Reason::kIdle)));
}

TEST(ShrinkTest, APolicyThatContradictsItselfHoldsThePoolAsItIs) {
  for (const int how : {0, 1, 2, 3}) {
    Site site;
    site.host(1, site.type("small", 2, 4, 100)).since = Mono(0s);
    site.jobs(9, 1);
    if (how == 0) site.pool().sizes.min = 5, site.pool().sizes.max = 2;
    if (how == 1) site.pool().price_factor_max = std::nan("");
    if (how == 2) site.pool().price_factor_max = HUGE_VAL;
    if (how == 3) site.pool().idle_timeout = -1s;
    Plan plan = site.plan();
    EXPECT_THAT(plan.creates, IsEmpty()) << how;
    EXPECT_THAT(plan.waiting[0].reason, HasSubstr("held")) << how;
    site.snapshot.classes.clear();
    EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << how;
  }
}

}  // namespace
}  // namespace hostler::scheduler
