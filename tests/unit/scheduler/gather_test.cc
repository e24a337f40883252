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
  static std::string reason(const Plan& plan, demand::ClassId cls) {
    for (const Waiting& w : plan.waiting)
      if (w.cls == cls) return w.reason;
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
  EXPECT_THAT(reason(plan, cls), HasSubstr("holds its hosts, 1 of them ready"));
}

TEST_F(GatherTest, ItHoldsNothingIfOneIsNotToBeHad) {
  site.host(1, small);
  site.pool().sizes.max = 2;
  const auto cls = gang(3);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.reservations, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(reason(plan, cls), HasSubstr("2 of the 3 hosts"));
}

TEST_F(GatherTest, AShutGateMakesItHoldNothing) {
  site.host(1, small);
  site.snapshot.offerings[small].shut = "no capacity";
  const auto cls = gang(2);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.reservations, IsEmpty());
  EXPECT_THAT(reason(plan, cls), HasSubstr("no capacity"));
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
  EXPECT_THAT(reason(plan, later), HasSubstr("turn of another gang"));
}

TEST_F(GatherTest, AGangOfWhichSomeMayNotStartWaitsWhole) {
  site.host(1, small);
  site.host(2, small);
  const auto cls = gang(3);
  view(cls).count = 2;
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(reason(plan, cls), HasSubstr("hold back 1"));
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

/// Time passes in steps of a minute, and each plan is carried out: hosts boot in one step, and
/// leases of `term` want all hosts of the pool all the time.
TEST_F(GatherTest, AGangIsGrantedWithinStarvationATermAndTwoBoots) {
  for (const int term : {3, 10, 25}) {
    Site busy;
    const auto type = busy.type("small", 2, 4, 100);
    busy.pool().sizes.max = 4;
    const auto cls = busy.leases(3, 1);
    busy.snapshot.classes.back().shape.gang = {1, 3, false};
    std::uint64_t arrivals = 100;
    const auto starving =
        std::chrono::duration_cast<std::chrono::minutes>(busy.pool().starvation_after);
    const Mono submitted = busy.snapshot.now;
    std::optional<Mono> granted;
    demand::ClassView other = busy.snapshot.classes.back();
    other.id = 7;
    other.shape.gang = {};
    other.shape.lasts = std::chrono::minutes(term);
    for (std::uint64_t id = 1; id <= 4; ++id) {
      HostView& host = busy.host(id, type);
      busy.occupy(host, host.total);
      host.takes_work = false;
      host.lent_until = busy.snapshot.now + std::chrono::minutes(term);
    }
    for (int minute = 0; minute < 200 && !granted; ++minute) {
      std::erase_if(busy.snapshot.classes, [](const auto& c) { return c.id == 7; });
      other.count = 10;
      other.heads.assign(10, {0, arrivals++});
      other.oldest = busy.snapshot.now;
      busy.snapshot.classes.push_back(other);
      const Plan plan = busy.plan();
      if (placed(plan, cls) > 0) {
        EXPECT_EQ(placed(plan, cls), 3U) << "all or none";
        granted = busy.snapshot.now;
      }
      if (granted) break;
      for (const Place& place : plan.places)
        for (HostView& host : busy.snapshot.hosts)
          if (host.id == place.host) {
            busy.occupy(host, host.total);
            host.takes_work = false;
            host.lent_until = busy.snapshot.now + std::chrono::minutes(term);
          }
      for (HostView& host : busy.snapshot.hosts) host.reserved_for.reset();
      for (const Reserve& one : plan.reservations)
        for (HostView& host : busy.snapshot.hosts)
          if (host.id == one.host) host.reserved_for = one.cls;
      busy.snapshot.now += 1min;
      for (HostView& host : busy.snapshot.hosts)
        if (host.lent_until && *host.lent_until <= busy.snapshot.now) {
          host.lent_until.reset();
          host.free = host.total;
          host.busy = false;
          host.takes_work = true;
          host.since = busy.snapshot.now;
        }
    }
    ASSERT_TRUE(granted) << "terms of " << term << " minutes";
    EXPECT_LE(*granted - submitted, starving + std::chrono::minutes(term + 2));
  }
}

}  // namespace
}  // namespace hostler::scheduler
