// Gangs: their items get hosts all together, or none does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct GatherTest : testing::Test {
  demand::ClassId gang(std::uint32_t count, Duration waited = 1s, std::int32_t priority = 0) {
    const demand::ClassId cls = site.leases(count, 1, 1, priority, waited);
    site.snapshot.classes.back().shape.gang = {cls + 1U, count, false};
    return cls;
  }
  demand::ClassView& view(demand::ClassId cls) {
    return *std::ranges::find(site.snapshot.classes, cls, &demand::ClassView::id);
  }
  HostView& lent(std::uint64_t id, Duration left) {
    HostView& out = site.host(id, small);
    site.occupy(out, out.total);
    out.takes_work = false;
    out.lent_until = site.snapshot.now + left;
    return out;
  }
  static std::vector<std::uint64_t> reserved(const Plan& plan) {
    std::vector<std::uint64_t> out;
    for (const Reserve& one : plan.reservations) out.push_back(one.host.value);
    return out;
  }
  static Waiting waiting(const Plan& plan, demand::ClassId cls) {
    for (const Waiting& w : plan.waiting)
      if (w.cls == cls) return w;
    return {};
  }

  Site site;
  const std::uint32_t small = site.type("small", 2, 4, 100);
};

TEST_F(GatherTest, AGangBeginsOnceAllItsHostsAreReady) {
  site.host(1, small);
  site.host(2, small);
  site.host(3, small);
  const auto cls = gang(3);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, cls), 3U);
  EXPECT_THAT(plan.places, SizeIs(3)) << "a place for each lease";
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST_F(GatherTest, ItHoldsReadyHostsWhileOthersCome) {
  site.host(1, small);
  const auto cls = gang(3);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, cls), 0U);
  EXPECT_THAT(reserved(plan), ElementsAre(1U));
  EXPECT_THAT(bought(plan), SizeIs(2));
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("holds its hosts, 1 of them ready"));
}

TEST_F(GatherTest, ItHoldsNothingIfOneIsNotToBeHad) {
  site.host(1, small);
  site.pool().sizes.max = 2;
  const auto cls = gang(3);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.reservations, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("2 of the 3 hosts"));
}

TEST_F(GatherTest, AShutGateMakesItHoldNothing) {
  site.host(1, small);
  site.snapshot.offerings[small].shut = "no capacity";
  const auto cls = gang(2);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.reservations, IsEmpty());
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("no capacity"));
}

TEST_F(GatherTest, HeldHostsDoNotEndAndTakeNoOtherWork) {
  const auto cls = gang(2);
  HostView& idle = site.host(1, small);
  idle.reserved_for = cls;
  idle.since = site.snapshot.now - 10h;
  site.host(2, small, HostPhase::kComing).reserved_for = cls;
  const auto jobs = site.jobs(1, 1, 1, 5);
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 1), 0U);
  EXPECT_THAT(ended(plan), IsEmpty());
  EXPECT_THAT(reserved(plan), ElementsAre(1U, 2U));
  EXPECT_EQ(placed(plan, jobs), 0U);
  EXPECT_THAT(bought(plan), SizeIs(1)) << "for the job";
}

TEST_F(GatherTest, AGangThatPausesLetsItsHostsGo) {
  const auto cls = gang(2);
  site.host(1, small).reserved_for = cls;
  view(cls).not_before = site.snapshot.now + 30s;
  const auto jobs = site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, jobs), 1U);
  EXPECT_THAT(plan.reservations, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_EQ(waiting(plan, cls).code, model::WaitingCode::kPlanning);
}

TEST_F(GatherTest, OnlyTheGangWhoseTurnIsNextHoldsHostsOfAPool) {
  site.pool().sizes.max = 4;
  site.host(1, small);
  const auto later = gang(2);
  const auto first = gang(3, 1s, 5);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.reservations, SizeIs(1));
  EXPECT_EQ(plan.reservations[0].cls, first);
  EXPECT_THAT(bought(plan), SizeIs(2));
  EXPECT_THAT(waiting(plan, later).reason, HasSubstr("turn of another gang"));
  EXPECT_EQ(waiting(plan, later).code, model::WaitingCode::kPlanning);
}

TEST_F(GatherTest, AGangOfWhichSomeMayNotStartWaitsWhole) {
  site.host(1, small);
  site.host(2, small);
  const auto cls = gang(3);
  view(cls).count = 2;
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("hold back 1"));
}

TEST_F(GatherTest, OnlyAStarvingGangHoldsHostsThatHaveOtherWorkStill) {
  site.pool().sizes.max = 2;
  lent(1, 10min);
  site.host(2, small);
  auto cls = gang(2, 1min);
  EXPECT_THAT(site.plan().reservations, IsEmpty());
  view(cls).oldest = site.snapshot.now - site.pool().starvation_after;
  EXPECT_THAT(reserved(site.plan()), testing::UnorderedElementsAre(1U, 2U));
}

TEST_F(GatherTest, LeasesThatEndBeforeItCanBeginFillIn) {
  site.pool().sizes.max = 2;
  lent(1, 10min);
  const auto cls = gang(2, 1h);
  site.host(2, small).reserved_for = cls;
  const auto long_one = site.leases(1, 1);
  site.snapshot.classes.back().shape.lasts = 11min;
  const auto short_one = site.leases(1, 1);
  site.snapshot.classes.back().shape.lasts = 10min;
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, long_one), 0U);
  EXPECT_EQ(placed(plan, short_one), 1U);
  EXPECT_THAT(reserved(plan), testing::UnorderedElementsAre(1U, 2U));
}

TEST_F(GatherTest, TheHostsOfAGangMayHaveToBeInOneZone) {
  const auto east = site.type("east", 2, 4, 100, model::Market::kOnDemand, "east");
  const auto west = site.type("west", 2, 4, 100, model::Market::kOnDemand, "west");
  site.snapshot.offerings[small].shut = site.snapshot.offerings[east].shut = "no capacity";
  site.snapshot.offerings[west].shut = "no capacity";
  site.host(1, east);
  site.host(2, west);
  const auto cls = gang(2);
  view(cls).shape.gang.one_zone = true;
  EXPECT_THAT(site.plan().places, IsEmpty());
  site.host(3, west);
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 2), 1U);
  EXPECT_EQ(placed_on(plan, 3), 1U);
}

TEST_F(GatherTest, ACeilingOfCreatesAMinuteDelaysAGang) {
  site.snapshot.site.creates = 2;
  gang(3);
  EXPECT_THAT(bought(site.plan()), SizeIs(2));
}

// Bug: each plan made a new request and ended the one before.
TEST_F(GatherTest, ItWaitsForTheSpotRequestsThatWereMadeForIt) {
  const auto cls = gang(2);
  for (const std::uint64_t id : {1U, 2U}) {
    HostView& host = site.host(id, small, HostPhase::kComing);
    host.unfulfilled_spot = true;
    host.load = {{cls, 1}};
    host.reserved_for = cls;
  }
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), ElementsAre(1U, 2U));
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(ended(plan), IsEmpty());
}

// Bug: it let all go, since the ceiling counts a host until it is gone.
TEST_F(GatherTest, AHostThatEndsMakesRoomForIt) {
  const auto cls = gang(2);
  site.snapshot.site.instances = 0;
  site.host(1, small).reserved_for = cls;
  site.host(2, small, HostPhase::kLeaving).ends = true;
  const auto jobs = site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), ElementsAre(1U));
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("holds its hosts, 1 of them ready"));
  EXPECT_EQ(placed(plan, jobs), 0U);
}

TEST_F(GatherTest, AHostThatComesForWorkThatWaitsNoMoreIsItsOwn) {
  site.pool().sizes.max = 2;
  const auto cls = gang(2);
  site.host(1, small);
  site.host(2, small, HostPhase::kComing).load = {{99, 1}};
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), ElementsAre(1U, 2U));
  EXPECT_THAT(waiting(plan, cls).reason, HasSubstr("holds its hosts"));
}

// Bug: a connection that broke for a moment made it let all go.
TEST_F(GatherTest, AHostThatItHoldsIsWaitedForWhileItDoesNotAnswer) {
  site.pool().sizes.max = 2;
  const auto cls = gang(2);
  site.host(1, small).reserved_for = cls;
  HostView& other = site.host(2, small);
  other.reserved_for = cls;
  other.takes_work = false;
  other.unreachable_since = site.snapshot.now - 1min;
  EXPECT_THAT(reserved(site.plan()), ElementsAre(1U, 2U));
  other.unreachable_since = site.snapshot.now - site.pool().probe_timeout;
  EXPECT_THAT(site.plan().reservations, IsEmpty());
}

// Bug: after a restart it held hosts that are lent, as they seemed to boot.
TEST_F(GatherTest, AHostThatIsLentAndNotProvedYetIsNotComing) {
  site.pool().sizes.max = 2;
  site.host(1, small);
  HostView& other = site.host(2, small, HostPhase::kComing);
  site.occupy(other, other.total);
  other.lent_until = site.snapshot.now + 1h;
  gang(2);
  EXPECT_THAT(site.plan().reservations, IsEmpty());
}

// Bug: it held nothing while one host came for others. Where each lease gets a new host, one always
// does.
TEST_F(GatherTest, AStarvingGangHoldsHostsWhileOneComesForOtherWork) {
  site.pool().sizes.max = 2;
  const auto cls = gang(2, 1h);
  const auto other = site.leases(1, 1);
  site.host(1, small).reserved_for = cls;
  site.host(2, small, HostPhase::kComing).load = {{other, 1}};
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), ElementsAre(1U));
  EXPECT_THAT(plan.places, IsEmpty());
  ASSERT_THAT(plan.covered, SizeIs(1));
  EXPECT_EQ(plan.covered[0].cls, other);
}

// Bug: a holder that renews was waited for, while other hosts became free and were lent again.
TEST_F(GatherTest, ItWaitsForTheHostsThatAreFreeSoonest) {
  site.pool().sizes.max = 3;
  const auto cls = gang(2, 1h);
  lent(1, 2h).reserved_for = cls;
  lent(2, 10min);
  lent(3, 20min);
  EXPECT_THAT(reserved(site.plan()), ElementsAre(2U, 3U));
}

// Bug: where work always waits for long, one host was always reserved for some of it.
TEST_F(GatherTest, AHostThatIsReservedForLaterWorkIsItsOwn) {
  site.pool().sizes.max = 2;
  const auto cls = gang(2, 1h);
  site.leases(1, 1, 1, 0, 1h);
  for (const std::uint64_t id : {1U, 2U})
    site.occupy(site.host(id, small), {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0});
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), testing::UnorderedElementsAre(1U, 2U));
  for (const Reserve& one : plan.reservations) EXPECT_EQ(one.cls, cls);
}

TEST_F(GatherTest, AHostThatIsReservedForEarlierWorkIsLeftToIt) {
  site.pool().sizes.max = 2;
  const auto first = site.leases(1, 1, 1, 0, 1h);
  const auto cls = gang(2, 1h);
  for (const std::uint64_t id : {1U, 2U})
    site.occupy(site.host(id, small), {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0});
  const Plan plan = site.plan();
  ASSERT_THAT(plan.reservations, SizeIs(2));
  EXPECT_EQ(plan.reservations[0].cls, first);
  EXPECT_EQ(plan.reservations[1].cls, cls);
}

// Bug: it lost the host by that, as it does not wait for hosts with work there.
TEST_F(GatherTest, NothingFillsInWhereItDoesNotStarve) {
  site.policy.pools.push_back(site.pool());
  site.pool(1).name = "patient";
  site.pool(1).starvation_after = 24h;
  site.pool(0).sizes.max = site.pool(1).sizes.max = 1;
  site.snapshot.pools.resize(2);
  const auto there = site.type("other", 2, 4, 100, model::Market::kOnDemand, "", 1);
  const auto cls = gang(2, 1h);
  const auto short_one = site.leases(1, 1);
  site.snapshot.classes.back().shape.lasts = 5min;
  lent(1, 10min);
  site.host(2, there).reserved_for = cls;
  const Plan plan = site.plan();
  EXPECT_THAT(reserved(plan), testing::UnorderedElementsAre(1U, 2U));
  EXPECT_EQ(placed(plan, short_one), 0U);
}

// Bug: it bought hosts in the first zone that has them, by name.
TEST_F(GatherTest, OfSeveralZonesItTakesTheOneWhereItsHostsAreSoonest) {
  const auto west = site.type("west", 2, 4, 100, model::Market::kOnDemand, "west");
  site.type("east", 2, 4, 100, model::Market::kOnDemand, "east");
  site.host(1, west);
  site.host(2, west);
  const auto cls = gang(2);
  view(cls).shape.gang.one_zone = true;
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, cls), 2U);
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST_F(GatherTest, ZonesOfTwoSetsAreTwoZones) {
  site.policy.sets.resize(2);
  site.policy.sets[1].name = "other";
  site.snapshot.sets.resize(2);
  const auto here = site.type("here", 2, 4, 100, model::Market::kOnDemand, "a");
  const auto there = site.type("there", 2, 4, 100, model::Market::kOnDemand, "a");
  site.snapshot.offerings[there].set = 1;
  for (Offering& offering : site.snapshot.offerings) offering.shut = "no capacity";
  site.host(1, here);
  site.host(2, there);
  const auto cls = gang(2);
  view(cls).shape.gang.one_zone = true;
  EXPECT_THAT(site.plan().places, IsEmpty());
  site.host(3, there);
  EXPECT_EQ(placed(site.plan(), cls), 2U);
}

// Bug: what its user sent later used up the limits of both, for as long as more came.
TEST_F(GatherTest, OtherWorkOfItsUserDoesNotGoBeforeAGangThatStarves) {
  site.snapshot.has_limits = true;
  site.pool().sizes.max = 1;
  const auto cls = gang(2);
  const auto waiting = [&] {
    const Plan plan = site.plan();
    return *std::ranges::find(plan.waiting, cls, &Waiting::cls);
  };
  EXPECT_FALSE(waiting().part_from) << "no host can be had for it";
  view(cls).oldest = site.snapshot.now - site.pool().starvation_after;
  EXPECT_TRUE(waiting().part_from);
}

// Bug: all gangs of a pool waited for one that was not to be had.
TEST_F(GatherTest, AGangThatIsNotToBeHadHoldsUpNoOther) {
  site.pool().sizes.max = 4;
  site.host(1, small);
  site.host(2, small);
  const auto first = gang(5, 1s, 5);
  const auto later = gang(2);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, later), 2U);
  EXPECT_THAT(waiting(plan, first).reason, HasSubstr("4 of the 5 hosts"));
}

TEST_F(GatherTest, GangsBeginInOnePlanIfAllTheirHostsAreReady) {
  for (const std::uint64_t id : {1U, 2U, 3U, 4U}) site.host(id, small);
  const auto one = gang(2), other = gang(2);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, one), 2U);
  EXPECT_EQ(placed(plan, other), 2U);
}

// Bug: hosts of the minimum that are too small kept a gang waiting for ever.
TEST_F(GatherTest, IdleHostsThatAreTooSmallGiveWayToAGangIfAllItsHostsAreToBeHadThen) {
  const auto tiny = site.type("tiny", 1, 4, 50);
  site.pool().sizes.max = site.pool().sizes.min = 2;
  HostView& first = site.host(1, tiny);
  first.since = site.snapshot.now - 1h;
  HostView& second = site.host(2, tiny);
  second.since = site.snapshot.now - 1h;
  const auto cls = gang(2);
  view(cls).shape.needs.vcpus = 2;
  EXPECT_THAT(ended(site.plan()),
              testing::UnorderedElementsAre(std::pair(std::uint64_t{1}, model::Reason::kGaveWay),
                                            std::pair(std::uint64_t{2}, model::Reason::kGaveWay)));
  second.busy = true, second.takes_work = false, second.free = {};
  EXPECT_THAT(ended(site.plan()), IsEmpty());
}

}  // namespace
}  // namespace hostler::scheduler
