#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/unit/scheduler/linear_bound.h"
#include "tests/unit/scheduler/plain_requests.h"
#include "tests/unit/scheduler/world_builder.h"

/// Random types and jobs, by seed: the worst price that is found, and what is true of every
/// packing.
namespace hostler::scheduler {
namespace {

/// Types and jobs of which the seed decides everything; nothing but the price decides what is
/// bought.
class RandomMenu : public Site {
 public:
  explicit RandomMenu(std::uint64_t seed) : random(seed) {
    pool().sizes.max = 1'000'000;
    pool().price_factor_max = 1e6;
  }
  Random random;

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  /// Types of any size and price.
  void any_types(std::int64_t count, std::int64_t vcpus_most) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto vcpus = static_cast<std::int32_t>(number(1, vcpus_most));
      const std::int64_t gib = number(1, 8) * vcpus;
      type("t" + std::to_string(i), vcpus, gib, vcpus * number(20, 40) + gib * number(1, 6));
    }
  }
  /// Families of sizes as clouds sell them, with one price for a vcpu and one for a GiB. The
  /// largest size holds 128 of the smallest unit.
  void families() {
    const std::int64_t cpu = number(10'000, 40'000), ram = number(500, 5'000);
    const bool doubles = random.chance(0.5);
    for (std::int64_t f = number(1, 3), gib = number(1, 4); f > 0; --f, gib *= 2)
      for (std::int32_t size = 8; size <= 128; size = doubles ? 2 * size : size + 8)
        type("f" + std::to_string(gib) + "." + std::to_string(size), size, size * gib,
             size * (cpu + gib * ram));
  }
  void random_jobs(std::int64_t shapes, std::int64_t count_most, std::int64_t vcpus_most,
                   std::int64_t gib_most) {
    for (std::int64_t i = 0; i < shapes; ++i) {
      // Named: compilers differ in the order in which they evaluate arguments.
      const std::int64_t gib = number(1, gib_most);
      const auto vcpus = static_cast<std::int32_t>(number(1, vcpus_most));
      jobs(static_cast<std::uint64_t>(number(1, count_most)), vcpus, gib);
    }
  }
};

double price_of(const Site& site, const Plan& plan) {
  double sum = 0;
  for (const Create& create : plan.creates)
    sum += static_cast<double>(site.snapshot.offerings[create.offering].price_per_hour.value);
  return sum;
}

/// The least price of all ways to split the jobs over hosts, by trying them. For few jobs.
class Exact {
 public:
  explicit Exact(const Site& site) : site_(site) {
    for (const demand::ClassView& view : site.snapshot.classes)
      for (std::uint64_t i = 0; i < view.count; ++i) jobs_.push_back(view.shape.needs);
    const std::uint32_t all = 1U << jobs_.size();
    std::vector<double> host(all, HUGE_VAL);
    least_.assign(all, HUGE_VAL);
    least_[0] = 0;
    for (std::uint32_t set = 1; set < all; ++set) host[set] = cheapest(set);
    for (std::uint32_t set = 1; set < all; ++set) {
      const std::uint32_t first = set & (~set + 1);  // It is on some host, with some others.
      for (std::uint32_t on = set; on > 0; on = (on - 1) & set)
        if ((on & first) != 0) least_[set] = std::min(least_[set], host[on] + least_[set & ~on]);
    }
  }
  [[nodiscard]] double least() const { return least_.back(); }

 private:
  [[nodiscard]] double cheapest(std::uint32_t set) const {
    model::Resources sum;
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if ((set >> j & 1U) != 0) sum += jobs_[j];
    double least = HUGE_VAL;
    for (const Offering& o : site_.snapshot.offerings)
      if (sum.fits_in(o.resources))
        least = std::min(least, static_cast<double>(o.price_per_hour.value));
    return least;
  }
  const Site& site_;
  std::vector<model::Resources> jobs_;
  std::vector<double> least_;
};

struct Worst {
  double ratio = 0;
  double sum = 0;
  std::uint64_t seed = 0, cases = 0;
  void see(double one, std::uint64_t of_seed) {
    if (one > ratio) ratio = one, seed = of_seed;
    sum += one, ++cases;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(cases); }
};

TEST(PackPropertyTest, FewJobsCostLittleMoreThanTheBestOfAllPackings) {
  Worst worst;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    RandomMenu site(seed);
    site.any_types(site.number(1, 6), 16);
    for (std::int64_t left = site.number(1, 8); left > 0;) {
      const auto count = std::min(left, site.number(1, 3));
      site.jobs(static_cast<std::uint64_t>(count), static_cast<std::int32_t>(site.number(1, 8)),
                site.number(1, 30));
      left -= count;
    }
    const double least = Exact(site).least();
    if (least == HUGE_VAL) continue;  // Some job fits no type.
    const double price = price_of(site, site.plan());
    EXPECT_GE(price, least) << "seed " << seed << ": no packing is cheaper than the best";
    worst.see(price / least, seed);
  }
  RecordProperty("worst", std::to_string(worst.ratio));
  RecordProperty("mean", std::to_string(worst.mean()));
  // The worst needs two hosts that are both nearly full; all others cost at most 1.2 times the
  // best.
  EXPECT_LE(worst.ratio, 1.47) << "seed " << worst.seed;
  EXPECT_LE(worst.mean(), 1.003);
}

TEST(PackPropertyTest, ManyJobsThatAreSmallBesideHostsCostLittleMoreThanTheBound) {
  Worst worst;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomMenu site(seed);
    site.families();
    site.random_jobs(site.number(10, 30), 100, 8, 24);
    worst.see(price_of(site, site.plan()) / linear_bound(site), seed);
  }
  RecordProperty("worst", std::to_string(worst.ratio));
  RecordProperty("mean", std::to_string(worst.mean()));
  EXPECT_LE(worst.ratio, 1.06) << "seed " << worst.seed;
  EXPECT_LE(worst.mean(), 1.01);
}

// Bug: where hosts lose a part of a vcpu, many small ones were bought, at 1.06 of the bound.
TEST(PackPropertyTest, PlainRequestsCostLittleMoreThanTheBoundOnEveryMenu) {
  for (const std::int64_t types : {std::int64_t{400}, std::int64_t{32}, kRatios})
    for (const std::int32_t overhead : {0, 2, 5})
      for (const std::uint64_t jobs : {1'000U, 5'000U, 10'000U})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          Site site;
          add_menu(site, types, overhead);
          add_plain_requests(site, jobs, seed);
          EXPECT_LE(price_of(site, site.plan()) / linear_bound(site), 1.02)
              << jobs << " jobs on " << types << " types with overhead " << overhead << ", seed "
              << seed;
        }
}

TEST(PackPropertyTest, AHostHoldsWhatItIsForAndEachJobHasOneHost) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomMenu site(seed);
    site.any_types(site.number(1, 40), 64);
    site.random_jobs(site.number(1, 20), 40, 24, 60);
    if (site.random.chance(0.3)) site.pool().attempts_parallel_max = 3;
    std::map<demand::ClassId, std::uint64_t> bought;
    for (const Create& create : site.plan().creates) {
      model::Resources sum;
      std::int64_t jobs = 0;
      for (const demand::Load& load : create.load) {
        bought[load.cls] += load.count;
        jobs += load.count;
        for (std::uint32_t n = 0; n < load.count; ++n)
          sum += site.snapshot.classes[load.cls].shape.needs;
      }
      EXPECT_TRUE(sum.fits_in(site.snapshot.offerings[create.offering].resources)) << seed;
      EXPECT_LE(jobs, site.pool().attempts_parallel_max > 0 ? 3 : INT32_MAX) << seed;
    }
    for (const demand::ClassView& view : site.snapshot.classes) {
      const bool fits = std::ranges::any_of(site.snapshot.offerings, [&](const Offering& o) {
        return view.shape.needs.fits_in(o.resources);
      });
      EXPECT_EQ(bought[view.id], fits ? view.count : 0) << "seed " << seed;
    }
  }
}

TEST(PackPropertyTest, TheOrderOfTypesAndJobsDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RandomMenu site(seed);
    site.any_types(site.number(2, 20), 64);
    site.random_jobs(site.number(2, 20), 40, 24, 60);
    const double before = price_of(site, site.plan());
    auto& classes = site.snapshot.classes;
    auto& offerings = site.snapshot.offerings;
    for (std::size_t i = classes.size() - 1; i > 0; --i)
      std::swap(classes[i], classes[site.random.below(i + 1)]);
    for (std::size_t i = offerings.size() - 1; i > 0; --i)
      std::swap(offerings[i], offerings[site.random.below(i + 1)]);
    EXPECT_EQ(price_of(site, site.plan()), before) << "seed " << seed;
  }
}

/// Types of equal prices per resource; how many hosts are bought of them.
std::size_t hosts_for(std::uint64_t jobs, std::int32_t max) {
  Site site;
  for (std::int32_t size = 1; size <= 64; ++size)
    site.type("t" + std::to_string(size), size, 2 * size, 100 * size);
  site.pool().sizes.max = max;
  site.jobs(jobs, 1, 2);
  return site.plan().creates.size();
}

TEST(PackPropertyTest, OfEqualPricesTheSmallerHostIsBoughtWhileHostsAreFew) {
  EXPECT_EQ(hosts_for(2, 1000), 2U);
  EXPECT_EQ(hosts_for(4, 1000), 4U);
  EXPECT_LE(hosts_for(60, 1000), 4U);
  EXPECT_GE(hosts_for(60, 1000), 3U);
  EXPECT_LT(hosts_for(1000, 1000), 1000U / 20);
  EXPECT_GT(hosts_for(1000, 1000), 1000U / 40);
  EXPECT_LE(hosts_for(1000, 17), 17U) << "the room below max";
  EXPECT_EQ(hosts_for(60, 1), 1U);
}

}  // namespace
}  // namespace hostler::scheduler
