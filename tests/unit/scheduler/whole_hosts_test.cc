// Exclusive work, which leases are: each item gets an empty host, and nothing else goes there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using model::Market;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct WholeHostsTest : testing::Test {
  /// The first reason for which the class waits.
  static std::string reason(const Plan& plan, demand::ClassId cls) {
    for (const Waiting& w : plan.waiting)
      if (w.cls == cls) return w.reason;
    return {};
  }
  /// The work for which each host of the plan is created.
  static std::vector<demand::ClassId> created_for(const Plan& plan) {
    std::vector<demand::ClassId> out;
    for (const Create& create : plan.creates)
      for (const demand::Load& load : create.load) {
        EXPECT_EQ(load.count, 1U);
        out.push_back(load.cls);
      }
    return out;
  }

  Site site;
  const std::uint32_t small = site.type("small", 2, 4, 100), large = site.type("large", 8, 16, 400);
};

// ---- on hosts that are ready

TEST_F(WholeHostsTest, ALeaseGetsTheSmallestEmptyHostThatFits) {
  site.occupy(site.host(1, large), {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0});
  site.host(2, large);
  site.host(3, small);
  const auto leases = site.leases(2, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 3), 1U);
  EXPECT_EQ(placed_on(plan, 2), 1U);
  EXPECT_EQ(placed_on(plan, 1), 0U) << "a job runs there";
  EXPECT_EQ(placed(plan, leases), 2U);
}

TEST_F(WholeHostsTest, NothingElseGoesOnItsHost) {
  site.host(1, large);
  const auto leases = site.leases(2, 1);
  const auto jobs = site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, leases), 1U) << "a host for each";
  EXPECT_EQ(placed(plan, jobs), 0U);
}

TEST_F(WholeHostsTest, AHostOnWhichAJobOfThisPlanGoesIsNotEmpty) {
  site.host(1, large);
  const auto urgent = site.jobs(1, 1, 1, /*priority=*/1);
  const auto leases = site.leases(1, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, urgent), 1U);
  EXPECT_EQ(placed(plan, leases), 0U);
  EXPECT_THAT(created_for(plan), ElementsAre(leases));
}

TEST_F(WholeHostsTest, OutputThatIsStillOnTheHostIsWork) {
  site.host(1, large).busy = true;  // Nothing of its room is in use.
  const auto leases = site.leases(1, 1);
  const auto jobs = site.jobs(1, 1);
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, leases), 0U);
  EXPECT_EQ(placed(plan, jobs), 1U);
}

TEST_F(WholeHostsTest, AHostThatWasMadeForItIsItsOwn) {
  const auto jobs = site.jobs(1, 1);
  const auto leases = site.leases(1, 1);
  site.host(1, small).load = {{.cls = leases, .count = 1}};
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, leases), 1U) << "although the job came first";
  EXPECT_EQ(placed(plan, jobs), 0U);
}

TEST_F(WholeHostsTest, AHostThatWasMadeForJobsIsTheirs) {
  const auto leases = site.leases(1, 1);
  const auto jobs = site.jobs(1, 1);
  site.host(1, small).load = {{.cls = jobs, .count = 1}};
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, jobs), 1U) << "although the lease came first";
  EXPECT_EQ(placed(plan, leases), 0U);
}

TEST_F(WholeHostsTest, AHostThatIsLentIsNeitherEndedNorFilledNorReserved) {
  HostView& lent = site.host(1, large);
  lent.busy = true, lent.takes_work = false, lent.free = {}, lent.attempts_left = 0;
  lent.since = site.snapshot.now - 1h;
  site.pool().sizes.max = 1;
  site.jobs(1, 1, 1, 0, 1h);
  site.leases(1, 1, 1, 0, 1h);
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.shutdowns, IsEmpty());
  EXPECT_THAT(plan.reservations, IsEmpty());
}

// ---- on hosts that come

TEST_F(WholeHostsTest, ALeaseWaitsForAHostThatBootsForNobodyElse) {
  site.host(1, large, HostPhase::kComing);
  const auto leases = site.leases(2, 1);
  const Plan plan = site.plan();
  ASSERT_EQ(plan.covered.size(), 1U);
  EXPECT_EQ(plan.covered[0].count, 1U);
  EXPECT_THAT(bought(plan), ElementsAre(small));
  EXPECT_THAT(created_for(plan), ElementsAre(leases));
}

TEST_F(WholeHostsTest, AHostThatBootsForAJobIsNotSharedWithALease) {
  const auto jobs = site.jobs(1, 1);
  const auto leases = site.leases(1, 1);
  site.host(1, large, HostPhase::kComing).load = {{.cls = jobs, .count = 1}};
  EXPECT_THAT(created_for(site.plan()), ElementsAre(leases));
}

TEST_F(WholeHostsTest, AHostThatBootsForALeaseIsNotSharedWithAJob) {
  const auto jobs = site.jobs(1, 1);
  const auto leases = site.leases(1, 1);
  site.host(1, large, HostPhase::kComing).load = {{.cls = leases, .count = 1}};
  EXPECT_THAT(created_for(site.plan()), ElementsAre(jobs));
}

TEST_F(WholeHostsTest, TheCheapestHostThatIsOffIsSwitchedOnForOne) {
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    HostView& off = site.host(id, id == 2 ? small : large, HostPhase::kStopped);
    off.can_stop = off.can_wake = true;
  }
  const auto leases = site.leases(1, 1);
  const auto jobs = site.jobs(1, 1);
  const Plan plan = site.plan();
  ASSERT_FALSE(plan.wakes.empty());
  EXPECT_EQ(plan.wakes[0].host.value, 2U);
  EXPECT_THAT(plan.wakes[0].load, ElementsAre(demand::Load{.cls = leases, .count = 1}));
  EXPECT_EQ(plan.wakes[0].reason, "1 waiting lease needs it");
  EXPECT_THAT(created_for(plan), ElementsAre(jobs)) << "the others are too dear for it";
}

// ---- on new hosts

TEST_F(WholeHostsTest, EachLeaseGetsTheCheapestHostThatFits) {
  const auto wide = site.leases(2, 3), narrow = site.leases(3, 1);
  const Plan plan = site.plan();
  EXPECT_THAT(bought(plan), UnorderedElementsAre(large, large, small, small, small));
  EXPECT_THAT(created_for(plan), UnorderedElementsAre(wide, wide, narrow, narrow, narrow));
  EXPECT_EQ(plan.creates[0].reason, "1 waiting lease needs it");
}

TEST_F(WholeHostsTest, JobsAreNotPackedWithThem) {
  const auto jobs = site.jobs(1, 1), leases = site.leases(1, 1);
  EXPECT_THAT(created_for(site.plan()), UnorderedElementsAre(jobs, leases));
}

TEST_F(WholeHostsTest, OfTypesThatCostNothingTheSmallestIsTaken) {
  Site free;
  free.type("a-large", 8, 16, 0);
  const auto little = free.type("small", 2, 4, 0);
  free.leases(1, 1);
  EXPECT_THAT(bought(free.plan()), ElementsAre(little));
}

TEST_F(WholeHostsTest, ZonesOfOnePriceTakeTurns) {
  Site zones;
  const auto a = zones.type("small", 2, 4, 100, Market::kOnDemand, "a");
  zones.snapshot.offerings.push_back(zones.snapshot.offerings[a]);
  zones.snapshot.offerings.back().zone = "b";
  zones.leases(4, 1);
  EXPECT_THAT(bought(zones.plan()), UnorderedElementsAre(a, a, a + 1, a + 1));
}

TEST_F(WholeHostsTest, TheRulesOfPriceHoldAsForJobs) {
  site.snapshot.offerings[small].shut = "no capacity";
  const auto leases = site.leases(1, 1);
  EXPECT_THAT(site.plan().creates, IsEmpty()) << "four times the price of the cheapest";
  EXPECT_EQ(reason(site.plan(), leases), "small: no capacity");
  site.pool().price_factor_max = 4;
  EXPECT_THAT(bought(site.plan()), ElementsAre(large));
  site.pool().price_cap_per_hour = {399};
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST_F(WholeHostsTest, SpotIsTriedFirstWhereItIsCheaper) {
  const auto spot = site.type("small", 2, 4, 30, Market::kSpot);
  const auto leases = site.leases(1, 1);
  EXPECT_THAT(bought(site.plan()), ElementsAre(spot));
  site.constraints(leases).market = Market::kOnDemand;
  EXPECT_THAT(bought(site.plan()), ElementsAre(small));
}

TEST_F(WholeHostsTest, ACeilingGoesToTheHigherPriorityWhateverItsKind) {
  site.snapshot.site.instances = 1;
  const auto urgent_jobs = site.jobs(1, 1, 1, /*priority=*/1);
  const auto leases = site.leases(1, 1);
  EXPECT_THAT(created_for(site.plan()), ElementsAre(urgent_jobs));

  Site other;
  other.type("small", 2, 4, 100);
  other.snapshot.site.instances = 1;
  const auto urgent = other.leases(1, 1, 1, /*priority=*/1);
  other.jobs(1, 1);
  EXPECT_THAT(created_for(other.plan()), ElementsAre(urgent));
  EXPECT_NE(reason(site.plan(), leases), "");
}

TEST_F(WholeHostsTest, OfOnePriorityTheFirstTurnGetsTheLastRoom) {
  site.snapshot.site.instances = 1;
  const auto leases = site.leases(1, 1);
  site.jobs(1, 1);
  EXPECT_THAT(created_for(site.plan()), ElementsAre(leases));
  std::swap(site.snapshot.classes[0], site.snapshot.classes[1]);
  EXPECT_THAT(created_for(site.plan()), ElementsAre(leases + 1));
}

TEST_F(WholeHostsTest, LeasesAreMatchedKeptAndBootedInThatOrderAndThenTheStandbyIsFilledUp) {
  site.pool().sizes.standby = 1;
  site.host(1, small);
  const auto leases = site.leases(3, 1);
  site.host(2, small, HostPhase::kComing).load = {{.cls = leases, .count = 1}};
  const Plan plan = site.plan();
  EXPECT_EQ(placed_on(plan, 1), 1U) << "matched with the host that is ready";
  ASSERT_EQ(plan.covered.size(), 1U);
  EXPECT_EQ(plan.covered[0].host.value, 2U) << "keeps the host that boots for it";
  ASSERT_EQ(plan.creates.size(), 2U);
  EXPECT_EQ(plan.creates[0].for_class, leases) << "boots a new one";
  EXPECT_EQ(plan.creates[1].for_class, std::nullopt) << "standby";
}

// ---- when it waits long, and when a ceiling holds it back

TEST_F(WholeHostsTest, AHostIsReservedAndEmptiesForALeaseThatWaitsLong) {
  site.pool().sizes.max = 2;
  site.occupy(site.host(1, large), {.vcpus = 7, .gpus = 0, .ram = kGiB, .scratch = 0});
  site.occupy(site.host(2, large), {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0});
  const auto leases = site.leases(1, 1, 1, 0, 20min);
  site.jobs(9, 1);
  const Plan first = site.plan();
  ASSERT_EQ(first.reservations.size(), 1U);
  EXPECT_EQ(first.reservations[0].host.value, 2U) << "least has to become free there";
  EXPECT_EQ(first.reservations[0].cls, leases);

  HostView& reserved = site.snapshot.hosts[1];
  reserved.reserved_for = leases;
  EXPECT_EQ(placed_on(site.plan(), 2), 0U) << "it empties";
  reserved.busy = false, reserved.free = reserved.total;
  EXPECT_EQ(placed(site.plan(), leases), 1U);
}

TEST_F(WholeHostsTest, AnIdleHostThatIsTooSmallGivesWay) {
  site.pool().sizes.max = site.pool().sizes.min = 1;
  site.host(1, small).since = site.snapshot.now - 1h;
  site.leases(1, 4);
  EXPECT_THAT(ended(site.plan()),
              ElementsAre(std::pair(std::uint64_t{1}, model::Reason::kGaveWay)));
}

// ---- which pools lend

TEST_F(WholeHostsTest, OnlyPoolsThatLendGetLeases) {
  site.host(1, small);
  const auto leases = site.leases(1, 1);
  site.pool().leases.reset();
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.creates, IsEmpty());
  EXPECT_EQ(reason(plan, leases), "small: pool default does not lend hosts");
}

TEST_F(WholeHostsTest, OnlyTheNamedPoolsGetIt) {
  site.policy.pools.push_back(site.pool());
  site.pool(1).name = "other";
  site.snapshot.pools.resize(2);
  const auto there = site.type("dear", 2, 4, 150, Market::kOnDemand, "", 1);
  site.host(1, small);
  const auto leases = site.leases(1, 1);
  site.constraints(leases).pools = {"other"};
  const Plan plan = site.plan();
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(bought(plan), ElementsAre(there));
  EXPECT_THAT(plan.creates.at(0).passed_over, HasSubstr("pool default is not one that it may use"));
}

TEST_F(WholeHostsTest, JobsGoOnlyWhereTheAgentIs) {
  site.host(1, small);
  const auto jobs = site.jobs(1, 1), leases = site.leases(1, 1);
  site.pool().readiness = model::Readiness::kSsh;
  const Plan plan = site.plan();
  EXPECT_EQ(placed(plan, leases), 1U);
  EXPECT_EQ(placed(plan, jobs), 0U);
  EXPECT_EQ(reason(plan, jobs), "small: pool default runs no jobs");
}

}  // namespace
}  // namespace hostler::scheduler
