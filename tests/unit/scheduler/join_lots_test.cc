#include "core/scheduler/join_lots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/scheduler/fit.h"
#include "tests/unit/scheduler/linear_bound.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

/// Linear types, and jobs that nearly all have needs of their own.
struct ManyNeeds : Site {
  Random random{7};

  explicit ManyNeeds(int needs) {
    pool().sizes.max = 100'000;
    for (std::int32_t i = 1; i <= 64; ++i) type("t" + std::to_string(i), i, 2 * i, i * 10'000);
    for (int i = 0; i < needs; ++i) {
      demand::ClassView& view = snapshot.classes[jobs(1 + random.below(5), number(1, 16))];
      view.shape.needs.ram = number(1, 32'768) * kMiB;
    }
  }
  std::int32_t number(std::int32_t low, std::int32_t high) {
    return low +
           static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  [[nodiscard]] std::vector<Lot> lots(const World& world) const {
    return lots_of(world, 0, static_cast<std::uint32_t>(world.demand.size()));
  }
};

/// By class, how many items the plan's new hosts are for. Each host holds its load.
std::map<demand::ClassId, std::uint64_t> items_on_new_hosts(const Site& site, const Plan& plan) {
  std::map<demand::ClassId, std::uint64_t> out;
  for (const Create& create : plan.creates) {
    model::Resources sum;
    for (const demand::Load& load : create.load) {
      out[load.cls] += load.count;
      sum += times(site.snapshot.classes[load.cls].shape.needs, load.count);
    }
    EXPECT_FALSE(create.load.empty());
    EXPECT_TRUE(sum.fits_in(site.snapshot.offerings[create.offering].resources));
  }
  return out;
}

TEST(JoinLotsTest, FewLotsStayAsTheyAre) {
  const ManyNeeds site(100);
  const World world(site.snapshot, site.policy);
  for (const Lot& lot : join_similar(world, site.lots(world), 100)) {
    EXPECT_EQ(lot.demand.size(), 1);
    EXPECT_EQ(lot.item, world.needs[lot.need].resources);
  }
}

TEST(JoinLotsTest, EachItemOfAJoinedLotNeedsAtMostWhatTheLotSays) {
  const ManyNeeds site(3000);
  const World world(site.snapshot, site.policy);
  std::uint64_t items = 0;
  const auto joined = join_similar(world, site.lots(world), kLotsMax);
  EXPECT_EQ(joined.size(), kLotsMax);
  for (const Lot& lot : joined) {
    std::uint64_t of_lot = 0;
    for (const std::uint32_t d : lot.demand) {
      EXPECT_TRUE(world.needs[world.demand[d].need].resources.fits_in(lot.item));
      of_lot += world.demand[d].uncovered;
    }
    EXPECT_EQ(of_lot, lot.left);
    items += of_lot;
  }
  std::uint64_t waiting = 0;
  for (const demand::ClassView& view : site.snapshot.classes) waiting += view.count;
  EXPECT_EQ(items, waiting);
}

TEST(JoinLotsTest, LotsThatMayGoToDifferentHostsAreNotJoined) {
  ManyNeeds site(1000);
  for (std::size_t i = 0; i < site.snapshot.classes.size(); ++i)
    site.snapshot.classes[i].shape.constraints.types = {"t" + std::to_string(17 + i % 2)};
  const World world(site.snapshot, site.policy);
  for (const Lot& lot : join_similar(world, site.lots(world), 10))
    for (const std::uint32_t d : lot.demand)
      EXPECT_EQ(world.demand[d].view->shape.constraints, *world.needs[lot.need].constraints);
}

TEST(JoinLotsTest, JobsOfThousandsOfNeedsGetHostsAtAFairPrice) {
  const ManyNeeds site(5000);
  const Plan plan = site.plan();
  const auto on_new_hosts = items_on_new_hosts(site, plan);
  for (const demand::ClassView& view : site.snapshot.classes)
    EXPECT_EQ(on_new_hosts.at(view.id), view.count);
  double price = 0;
  for (const Create& create : plan.creates)
    price += static_cast<double>(site.snapshot.offerings[create.offering].price_per_hour.value);
  EXPECT_LT(price, linear_bound(site) * 1.03);
}

TEST(JoinLotsTest, ACeilingIsMetExactly) {
  ManyNeeds site(2000);
  site.pool().sizes.max = 20;
  const Plan plan = site.plan();
  EXPECT_EQ(plan.creates.size(), 20);
  items_on_new_hosts(site, plan);
}

/// Each priority of a user with a limit of price is a lot of its own. Parts of vcpus are no exact
/// numbers for the packer.
TEST(JoinLotsTest, EqualLotsAreNotSplit) {
  Site site;
  site.pool().sizes.max = 100'000;
  site.type("small", 4, 8, 40'000);
  for (std::int32_t priority = 0; priority < 300; ++priority) {
    demand::ClassView& view = site.snapshot.classes[site.jobs(1, 1, 1, priority)];
    view.shape.needs.vcpus = model::Vcpus::of_thousandths(300);
    view.price = demand::PriceBound(
        {{.left = demand::PriceBound::only_price({1'000'000'000}), .items = 1000}});
  }
  EXPECT_EQ(items_on_new_hosts(site, site.plan()).size(), 300);
}

/// 300 kinds of jobs with much ram and few vcpus, or the reverse: the most of both fits no type.
TEST(JoinLotsTest, JobsGetHostsAlsoWhereTheMostOfEachResourceFitsNone) {
  Site site;
  site.pool().sizes.max = 100'000;
  site.type("many_vcpus", 64, 64, 100'000);
  site.type("much_ram", 8, 512, 100'000);
  for (std::int32_t i = 0; i < 300; ++i) {
    site.jobs(1, 8 + i % 50, 8);
    demand::ClassView& wide = site.snapshot.classes.back();
    wide.shape.needs.ram += i * kMiB;
    site.jobs(1, 1 + i % 8, 65);
    site.snapshot.classes.back().shape.needs.ram += i * kMiB;
  }
  const auto on_new_hosts = items_on_new_hosts(site, site.plan());
  EXPECT_EQ(on_new_hosts.size(), 600);
}

/// Each class may go to one type only: nothing can be joined.
TEST(JoinLotsTest, MoreKindsOfConstraintsThanLotsAtOnceAreServed) {
  Site site;
  site.pool().sizes.max = 100'000;
  for (int i = 0; i < 600; ++i) {
    site.type("t" + std::to_string(i), 4, 8, 40'000);
    site.jobs(2, 2);
    site.snapshot.classes.back().shape.constraints.types = {"t" + std::to_string(i)};
  }
  EXPECT_EQ(items_on_new_hosts(site, site.plan()).size(), 600);
}

}  // namespace
}  // namespace hostler::scheduler
