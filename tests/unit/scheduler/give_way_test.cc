#include "core/scheduler/give_way.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// A minimum of two small hosts, and a job that only a large host holds.
struct SmallMinimum : Site {
  const std::uint32_t small = type("small", 2, 4, 100), large = type("large", 16, 32, 800);
  SmallMinimum() {
    pool().sizes.min = pool().sizes.max = 2;
    host(1, small).since = snapshot.now - 1s;
    host(2, small).since = snapshot.now - 2s;
    jobs(1, 16);
  }
  HostView& at(std::uint64_t id) { return snapshot.hosts[id - 1]; }
};

// Bug: the job waited for ever.
TEST(GiveWayTest, AnIdleHostOfTheMinimumGivesWayToWorkThatFitsNoHostThere) {
  SmallMinimum site;
  const Plan first = site.plan();
  EXPECT_THAT(ended(first), ElementsAre(Pair(2, model::Reason::kGaveWay)))
      << "one is enough: the one that is idle for longest";
  EXPECT_TRUE(first.shutdowns[0].gives_way);

  site.apply(first);
  site.snapshot.rests = {{.hosts = 1}};
  const Plan second = site.plan();
  ASSERT_THAT(second.creates, SizeIs(1));
  EXPECT_EQ(second.creates[0].offering, site.large);
  site.apply(second);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  EXPECT_THAT(site.plan().creates, IsEmpty());
}

TEST(GiveWayTest, TheMinimumIsNotRefilledWhileTheHostsThatGaveWayRest) {
  SmallMinimum site;
  site.snapshot.classes.clear();
  site.snapshot.hosts.clear();
  site.snapshot.rests = {{.hosts = 1}};
  EXPECT_THAT(site.plan().creates, SizeIs(1)) << "only as many as gave way are missing";
  site.snapshot.rests.clear();
  EXPECT_THAT(site.plan().creates, SizeIs(2));
}

TEST(GiveWayTest, NothingGivesWayInVain) {
  const auto never = [](auto change) {
    SmallMinimum site;
    change(site);
    EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  };
  never([](SmallMinimum& s) { s.snapshot.offerings[s.large].shut = "no capacity"; });
  never([](SmallMinimum& s) { s.snapshot.site.creates = 0; });
  never([](SmallMinimum& s) { s.snapshot.site.price_per_hour = model::Micros{500}; });
  never([](SmallMinimum& s) { s.at(1).kept = s.at(2).kept = true; });
  never([](SmallMinimum& s) { s.at(1).busy = s.at(2).busy = true; });
  never([](SmallMinimum& s) {
    s.at(1).unreachable_since = s.at(2).unreachable_since = s.snapshot.now;
  });
  never([](SmallMinimum& s) { s.pool().sizes.max = 3; });  // There is room.
}

TEST(GiveWayTest, AHostThatFitsWhatWaitsDoesNotGiveWay) {
  SmallMinimum site;
  site.jobs(1, 2, 1, 1);
  site.at(1).takes_work = site.at(2).takes_work = false;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(GiveWayTest, RoomThatComesIsCountedFirst) {
  SmallMinimum site;
  site.pool().sizes.max = 9;
  site.snapshot.site.instances = 0;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kGaveWay)));
  HostView& ending = site.host(3, site.small, HostPhase::kLeaving);
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1)) << "an abandoned host frees nothing";
  ending.ends = true;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(GiveWayTest, AsManyGiveWayAsTheCeilingOfPriceNeeds) {
  SmallMinimum site;
  site.pool().sizes.max = 9;
  site.snapshot.site.price_per_hour = model::Micros{650};
  EXPECT_THAT(site.plan().shutdowns, SizeIs(2));
  site.snapshot.site.price_per_hour = model::Micros{599};
  EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << "both are not enough";
}

TEST(GiveWayTest, OnlyHostsOfThePoolOfTheWorkGiveWay) {
  Site site;
  site.policy.pools.push_back(site.policy.pools[0]);
  site.pool(1).name = "other";
  site.snapshot.pools.resize(2);
  const auto small = site.type("small", 2, 4, 100);
  site.type("large", 16, 32, 800, model::Market::kOnDemand, "", 1);
  site.pool(0).sizes.min = 1;
  site.host(1, small);
  site.snapshot.site.instances = 0;
  site.jobs(1, 16);
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

TEST(GiveWayTest, AHostThatBootsForNothingGoesBeforeAnIdleOne) {
  SmallMinimum site;
  site.at(1).phase = HostPhase::kComing;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kBootingSurplus)));
}

TEST(GiveWayTest, AtAQuotaHostsOfItsGroupGiveWayIfTheyFreeEnough) {
  SmallMinimum site;
  site.pool().sizes.max = 20;
  for (auto& o : site.snapshot.offerings) o.quota_group = "standard";
  auto& large = site.snapshot.offerings[site.large];
  large.shut = "the quota is used up";
  large.at_quota = true;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty()) << "4 of 16 vcpus";
  for (std::uint64_t id = 3; id <= 9; ++id) site.host(id, site.small);
  EXPECT_THAT(site.plan().shutdowns, SizeIs(8));
  site.snapshot.offerings[site.small].quota_group = "other";
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
}

}  // namespace
}  // namespace hostler::scheduler
