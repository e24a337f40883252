#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/world_builder.h"

/// Standby in several pools. The last three tests are of faults of Kip's node manager, which merges
/// equal standby entries (K-X1), creates standby that cannot be had now (K-X2), and counts hosts of
/// another kind (K-X3).
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Two pools "default" and "other" that can buy an equal type, each with this standby.
struct TwoPools : Site {
  std::uint32_t first, second;

  explicit TwoPools(std::int32_t standby) {
    policy.pools.push_back(pool());
    pool(1).name = "other";
    snapshot.pools.resize(2);
    pool(0).sizes.standby = pool(1).sizes.standby = standby;
    first = type("small", 2, 8, 100);
    second = type("small", 2, 8, 100, model::Market::kOnDemand, "", 1);
  }
};

TEST(StandbyPoolsTest, AStandbyHostThatGetsWorkIsReplacedByTheSamePlan) {
  TwoPools site(1);
  site.host(1, site.first);
  site.host(2, site.second);
  site.jobs(1, 2);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.places, testing::SizeIs(1));
  const bool is_first = plan.places[0].host.value == 1;
  EXPECT_THAT(bought(plan), ElementsAre(is_first ? site.first : site.second));
}

// K-X1
TEST(StandbyPoolsTest, TwoPoolsThatSayTheSameEachKeepTheirCount) {
  TwoPools site(2);
  EXPECT_THAT(bought(site.plan()),
              UnorderedElementsAre(site.first, site.first, site.second, site.second));
  site.host(1, site.first);
  site.host(2, site.first);
  site.host(3, site.first);
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.second, site.second))
      << "a third idle host of one pool is none of the other";
}

// K-X2
TEST(StandbyPoolsTest, AShutGateHoldsBackStandby) {
  TwoPools site(2);
  site.snapshot.offerings[site.first].shut = "no capacity";
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.second, site.second));
  site.snapshot.offerings[site.second].shut = "no capacity";
  EXPECT_THAT(bought(site.plan()), IsEmpty());
  site.snapshot.offerings[site.first].shut = "";
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.first, site.first)) << "once it has opened";
}

// K-X3: what a host is besides its type (tenancy, addresses, image) is said by its pool; a zone and
// a GPU are of the offering.
TEST(StandbyPoolsTest, AHostOfAnotherTenancyZoneOrKindDoesNotFillAStandby) {
  Site site;
  const auto here = site.type("a", 2, 8, 100, model::Market::kOnDemand, "a");
  for (const char* name : {"zone", "gpu", "tenancy"}) {
    site.policy.pools.push_back(site.pool());
    site.pool(site.policy.pools.size() - 1).name = name;
  }
  site.snapshot.pools.resize(site.policy.pools.size());
  const auto zone_b = site.type("b", 2, 8, 100, model::Market::kOnDemand, "b", 1);
  const auto gpu = site.type("gpu", 2, 8, 100, model::Market::kOnDemand, "a", 2);
  site.snapshot.offerings[gpu].resources.gpus = 1;
  const auto dedicated = site.type("a", 2, 8, 100, model::Market::kOnDemand, "a", 3);
  for (std::size_t pool = 1; pool < 4; ++pool) site.pool(pool).sizes.standby = 1;
  site.pool(0).sizes.standby = 3;
  for (std::uint64_t id = 1; id <= 3; ++id) site.host(id, here);
  EXPECT_THAT(bought(site.plan()), UnorderedElementsAre(zone_b, gpu, dedicated));
}

}  // namespace
}  // namespace hostler::scheduler
