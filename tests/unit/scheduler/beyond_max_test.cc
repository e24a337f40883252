#include "core/scheduler/beyond_max.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::vector<std::uint64_t> closed(const Plan& plan) {
  std::vector<std::uint64_t> out;
  for (const Close& one : plan.closed) out.push_back(one.host.value);
  return out;
}

/// Five hosts of two vcpus, the last one the newest; all have been idle for a moment.
struct FiveHosts : Site {
  const std::uint32_t small = type("small", 2, 4, 100);
  FiveHosts() {
    for (std::uint64_t id = 1; id <= 5; ++id)
      host(id, small).created = snapshot.now - 1h + std::chrono::seconds(id);
  }
  HostView& at(std::uint64_t id) { return snapshot.hosts[id - 1]; }
};

TEST(BeyondMaxTest, IdleHostsGoAtOnceTheNewestFirst) {
  FiveHosts site;
  EXPECT_THAT(closed(site.plan()), IsEmpty());
  site.pool().sizes.max = 3;
  EXPECT_THAT(closed(site.plan()), ElementsAre(4, 5));
  EXPECT_THAT(ended(site.plan()),
              ElementsAre(Pair(4, model::Reason::kBeyondMax), Pair(5, model::Reason::kBeyondMax)));
}

TEST(BeyondMaxTest, HostsWithWorkGoAfterIdleOnesAndWhenTheyAreEmpty) {
  FiveHosts site;
  for (const std::uint64_t id : {1U, 2U, 4U, 5U}) site.occupy(site.at(id), {.vcpus = 1});
  site.pool().sizes.max = 3;
  EXPECT_THAT(closed(site.plan()), ElementsAre(3, 5));
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(3, model::Reason::kBeyondMax)));
}

/// A busy host, an idle one, and one that boots; at most two.
struct OneBoots : Site {
  const std::uint32_t small = type("small", 2, 4, 100);
  OneBoots() {
    pool().sizes.max = 2;
    occupy(host(1, small), {.vcpus = 2});
    host(2, small);
    host(3, small, HostPhase::kComing).created = snapshot.now - 1h;
  }
  HostView& booting() { return snapshot.hosts[2]; }
};

// Bug: the idle host went, and the spot request as well.
TEST(BeyondMaxTest, ASpotRequestThatNothingNeedsGoesAlone) {
  OneBoots site;
  site.booting().unfulfilled_spot = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(3, testing::_)));
  site.pool().sizes.max = 1;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, testing::_), Pair(3, testing::_)));
}

// Bug: the ready host went.
TEST(BeyondMaxTest, AHostThatBootsAndThatNothingNeedsGoesBeforeAReadyOne) {
  OneBoots site;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(3, model::Reason::kBeyondMax)));
  site.booting().load = {{site.jobs(1, 2), 1}};
  const Plan plan = site.plan();
  EXPECT_THAT(closed(plan), ElementsAre(3)) << "the ready host takes the job";
  EXPECT_EQ(placed_on(plan, 2), 1U);
}

TEST(BeyondMaxTest, AnIdleHostGoesBeforeOneThatBootsForWorkThatFitsItAlone) {
  OneBoots site;
  site.booting().total =
      site.booting().free = {.vcpus = 8, .gpus = 0, .ram = 8 * kGiB, .scratch = 0};
  site.jobs(1, 8);
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kBeyondMax)));
  site.constraints(0).zone = "z1";
  EXPECT_THAT(closed(site.plan()), ElementsAre(3)) << "it is not known to be for this zone";
  site.booting().load = {{0, 1}};
  EXPECT_THAT(closed(site.plan()), ElementsAre(2));
}

// Bug: a lease names the pools that lend, and counted as if it asked for a host of another kind.
TEST(BeyondMaxTest, AHostThatBootsIsNeededByALeaseIfItsPoolLends) {
  OneBoots site;
  site.booting().total =
      site.booting().free = {.vcpus = 8, .gpus = 0, .ram = 8 * kGiB, .scratch = 0};
  site.jobs(1, 8);
  auto& view = site.snapshot.classes[0];
  view.kind = model::WorkKind::kLease;
  view.shape.exclusive = true;
  view.shape.constraints.pools = {"default"};
  EXPECT_THAT(closed(site.plan()), ElementsAre(3)) << "the pool lends no hosts";
  site.pool().leases.emplace();
  EXPECT_THAT(closed(site.plan()), ElementsAre(2)) << "the idle host is too small for it";
}

TEST(BeyondMaxTest, AHostThatBootsInAPoolWithoutAgentsIsNotNeededByAJob) {
  OneBoots site;
  site.booting().total =
      site.booting().free = {.vcpus = 8, .gpus = 0, .ram = 8 * kGiB, .scratch = 0};
  site.jobs(1, 8);
  site.pool().readiness = model::Readiness::kSsh;
  EXPECT_THAT(closed(site.plan()), ElementsAre(3));
}

TEST(BeyondMaxTest, AClosedHostGetsNoNewWork) {
  FiveHosts site;
  for (const std::uint64_t id : {2U, 3U, 4U, 5U}) site.occupy(site.at(id), {.vcpus = 1});
  site.pool().sizes.max = 1;
  site.at(1).kept = true;
  site.at(1).takes_work = false;
  site.jobs(9, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(closed(plan), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_THAT(plan.shutdowns, IsEmpty()) << "no running job is ended";
}

TEST(BeyondMaxTest, WhatIsKeptStaysAndWhatGoesAnywayCountsFirst) {
  FiveHosts site;
  site.pool().sizes.max = 2;
  site.at(5).kept = true;
  site.at(1).draining = true;
  site.occupy(site.at(1), {.vcpus = 1});
  EXPECT_THAT(closed(site.plan()), ElementsAre(3, 4)) << "1 drains, 5 is held, 2 is the oldest";
}

TEST(BeyondMaxTest, TheCeilingOfDestroysHolds) {
  FiveHosts site;
  site.pool().sizes.max = 1;
  site.snapshot.site.destroys = 1;
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1));
}

TEST(BeyondMaxTest, AnAdoptedHostIsClosedAndNotEndedBeforeItsWorkIsKnown) {
  FiveHosts site;
  site.pool().sizes.max = 4;
  for (const std::uint64_t id : {1U, 2U, 3U, 4U}) site.occupy(site.at(id), {.vcpus = 1});
  site.at(5).phase = HostPhase::kComing;
  site.at(5).adopted = true;
  EXPECT_THAT(closed(site.plan()), ElementsAre(5));
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(BeyondMaxTest, StandbyAndMinimumAreNotKeptBeyondTheMaximum) {
  FiveHosts site;
  site.pool().sizes.max = site.pool().sizes.min = site.pool().sizes.standby = 2;
  EXPECT_THAT(ended(site.plan()), SizeIs(3));
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(OffMenuTest, AHostWhoseTypeLeftDrainsAndCountsForNoMinimum) {
  FiveHosts site;
  site.pool().sizes.min = 5;
  site.occupy(site.at(1), {.vcpus = 1});
  site.at(1).offering = site.at(2).offering = UINT32_MAX;
  site.jobs(1, 2);
  const Plan plan = site.plan();
  EXPECT_THAT(closed(plan), ElementsAre(1, 2));
  EXPECT_THAT(ended(plan), ElementsAre(Pair(2, model::Reason::kOffMenu)));
  EXPECT_THAT(plan.creates, SizeIs(2)) << "the minimum is filled without them";
  EXPECT_EQ(placed_on(plan, 1) + placed_on(plan, 2), 0U);
}

// Bug: while lists of its set were in doubt, which keeps its hosts, it got jobs.
TEST(OffMenuTest, AHostThatIsKeptGetsNoNewWorkEither) {
  FiveHosts site;
  for (std::uint32_t h = 1; h <= 5; ++h) site.at(h).offering = UINT32_MAX;
  site.at(1).kept = true;
  site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 1), 0U);
  EXPECT_THAT(ended(plan), testing::Not(testing::Contains(Pair(1, testing::_))));
}

TEST(OffMenuTest, ItCountsForTheMaximum) {
  FiveHosts site;
  site.pool().sizes.min = site.pool().sizes.max = 5;
  site.at(1).offering = UINT32_MAX;
  site.occupy(site.at(1), {.vcpus = 1});
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(BeyondMaxTest, TheTextCountsEachHostOnce) {
  FiveHosts site;
  site.pool().sizes.max = 2;
  site.at(1).offering = UINT32_MAX;
  site.occupy(site.at(2), {.vcpus = 1});
  site.at(5).phase = HostPhase::kComing;
  site.at(5).adopted = true;
  const auto& hosts = site.snapshot.hosts;
  const auto text = [&] {
    const auto bounds = numbers_of(site.policy, {}, hosts, {});
    return text_of(hosts, closed_hosts(hosts, bounds, {}, {}, site.policy), site.policy, bounds);
  };
  EXPECT_EQ(text(),
            "pool default: 2 hosts are beyond its maximum of 2 (2 idle), 1 host has a type that "
            "left its menu");
  site.pool().sizes.max = 9;
  EXPECT_EQ(text(), "pool default: 1 host has a type that left its menu");
}

}  // namespace
}  // namespace hostler::scheduler
