#include "core/scheduler/pack.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/base/random.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

/// Three families as clouds sell them: 2, 4 and 8 GiB a vcpu, prices linear in size.
struct Family {
  const char* name;
  std::int64_t gib;
  double price;
};
constexpr std::array kFamilies{Family{"c", 2, 42'500}, Family{"m", 4, 48'000},
                               Family{"r", 8, 63'000}};
void add_families(Site& site) {
  for (const Family& f : kFamilies)
    for (const int size : {2, 4, 8, 16, 32, 48, 64})
      site.type(f.name + std::to_string(size), size, size * f.gib,
                size * static_cast<std::int64_t>(f.price));
  site.pool().sizes.max = 1'000'000;
}

double cost(const Site& site, const Plan& plan) {
  double sum = 0;
  for (const Create& create : plan.creates)
    sum += static_cast<double>(site.snapshot.offerings[create.offering].price_per_hour.value);
  return sum;
}

double lower_bound(const Site& site) {
  const World world(site.snapshot, site.policy);
  return Packer(world, lots_of(world, 0, static_cast<std::uint32_t>(world.demand.size())))
      .lower_bound();
}

/// The linear-programming bound: items may be cut and spread over families. By its dual: each
/// family splits its price over cpu and ram, an item costs what it costs in its cheapest family;
/// the best splits are searched on a grid, refined twice. (Every item fits the largest sizes, and
/// prices are linear in size, so that a family is one column.)
class LinearBound {
 public:
  explicit LinearBound(const Site& site) : site_(site) {}

  double best() {
    std::array<double, 3> middle{0.5, 0.5, 0.5}, at = middle;
    double bound = 0;
    for (double step = 0.05, reach = 0.5; step > 5e-3; reach = 2 * step, step /= 5) {
      for (double a = -reach; a <= reach; a += step)
        for (double b = -reach; b <= reach; b += step)
          for (double c = -reach; c <= reach; c += step) {
            const std::array<double, 3> split{clamp(middle[0] + a), clamp(middle[1] + b),
                                              clamp(middle[2] + c)};
            const double here = cost(split);
            if (here > bound) bound = here, at = split;
          }
      middle = at;
    }
    return bound;
  }

 private:
  static double clamp(double x) { return std::min(1.0, std::max(0.0, x)); }
  double cost(const std::array<double, 3>& split) const {
    double sum = 0;
    for (const demand::ClassView& view : site_.snapshot.classes) {
      double cheapest = HUGE_VAL;
      for (std::size_t f = 0; f < 3; ++f)
        cheapest = std::min(cheapest,
                            kFamilies[f].price *
                                (split[f] * static_cast<double>(view.shape.needs.vcpus) +
                                 (1 - split[f]) * static_cast<double>(view.shape.needs.ram / kGiB) /
                                     static_cast<double>(kFamilies[f].gib)));
      sum += cheapest * static_cast<double>(view.count);
    }
    return sum;
  }
  const Site& site_;
};

struct Counts {
  std::uint64_t first, more;
};

/// Jobs of one random shape. Named: compilers differ in the order in which they evaluate arguments.
void add_jobs(Site& site, Random& random, Counts counts, std::uint64_t vcpus_max,
              std::uint64_t gib_max) {
  const auto gib = 1 + static_cast<std::int64_t>(random.below(gib_max));
  const auto vcpus = 1 + static_cast<std::int32_t>(random.below(vcpus_max));
  site.jobs(counts.first + random.below(counts.more), vcpus, gib);
}

TEST(PackTest, CostsWithinTwoPercentOfTheLowerBoundOnPlainWorkloads) {
  double worst = 0, sum = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Site site;
    add_families(site);
    Random random(seed);
    for (int i = 0; i < 20; ++i) add_jobs(site, random, {.first = 50, .more = 300}, 12, 40);
    const double bound = LinearBound(site).best();
    EXPECT_LE(lower_bound(site), bound * 1.0005) << "seed " << seed;
    const double over = cost(site, site.plan()) / bound;
    worst = std::max(worst, over);
    sum += over;
  }
  EXPECT_LT(sum / 12, 1.02);
  EXPECT_LT(worst, 1.03);
  RecordProperty("mean", std::to_string(sum / 12));
  RecordProperty("worst", std::to_string(worst));
}

TEST(PackTest, MixesWorkThatComplementsEachOther) {
  Site site;
  site.type("even", 8, 32, 1000);
  site.jobs(100, 4, 2);   // all cpu
  site.jobs(100, 2, 14);  // all ram

  EXPECT_EQ(site.plan().creates.size(), 75U) << "600 vcpus / 8 = 75; 1600 GiB / 32 = 50";
}

TEST(PackTest, EveryFillHoldsWhatItIsFor) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Site site;
    add_families(site);
    Random random(seed);
    for (int i = 0; i < 15; ++i) add_jobs(site, random, {.first = 1, .more = 60}, 64, 300);
    std::map<demand::ClassId, std::uint64_t> bought;
    for (const Create& create : site.plan().creates) {
      model::Resources sum;
      for (const demand::Load& load : create.load) {
        bought[load.cls] += load.count;
        for (std::uint32_t n = 0; n < load.count; ++n)
          sum += site.snapshot.classes[load.cls].shape.needs;
      }
      EXPECT_TRUE(sum.fits_in(site.snapshot.offerings[create.offering].resources)) << seed;
    }
    for (const demand::ClassView& view : site.snapshot.classes)
      EXPECT_EQ(bought[view.id], view.count) << "seed " << seed;
  }
}

TEST(PackTest, TheBoundIsABound) {
  Site site;
  site.type("small", 2, 4, 100);
  site.jobs(10, 2);
  EXPECT_NEAR(lower_bound(site), 1000, 1);
  EXPECT_LE(lower_bound(site), 1000);
  EXPECT_NEAR(cost(site, site.plan()), 1000, 1e-6);
}

}  // namespace
}  // namespace hostler::scheduler
