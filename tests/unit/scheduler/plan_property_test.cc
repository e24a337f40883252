// Random worlds: whatever the plan does in them, its promises hold. Replay one with
// HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "core/base/random.h"
#include "core/demand/shares.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/plan.h"
#include "core/scheduler/price_rule.h"
#include "tests/unit/scheduler/gang_checker.h"
#include "tests/unit/scheduler/plan_checker.h"
#include "tests/unit/scheduler/plan_text.h"

namespace hostler::scheduler {
namespace {

TEST(PlanPropertyTest, KeepsItsPromisesInAnyWorld) {
  for_each_seed(1000, [](std::uint64_t seed) {
    const RandomWorld world(seed);
    const Plan plan = world.plan();
    Checker(world, plan).all();
  });
}

TEST(PlanPropertyTest, KeepsItsPromisesToLeasesAndJobsInAnyWorld) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    const Plan plan = world.plan();
    Checker(world, plan).all();
  });
}

TEST(PlanPropertyTest, KeepsItsPromisesToGangsInAnyWorld) {
  std::size_t begun = 0, held = 0;
  for_each_seed(2000, [&](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    world.gather();
    const Plan plan = world.plan();
    Checker(world, plan).all();
    const GangChecker gangs(world, plan);
    gangs.all();
    begun += gangs.begun();
    held += gangs.held();
  });
  if (std::getenv("HOSTLER_PLAN_SEED") != nullptr) return;
  EXPECT_GT(begun, 0U);
  EXPECT_GT(held, 0U);
}

void check_order(RandomWorld& world) {
  const std::string before = text(world, world.plan());
  shuffle(world.snapshot.hosts, world.random);
  const auto moved_to = shuffle(world.snapshot.offerings, world.random);
  for (HostView& h : world.snapshot.hosts)
    if (h.offering < moved_to.size()) h.offering = moved_to[h.offering];
  EXPECT_EQ(text(world, world.plan()), before);
}

TEST(PlanPropertyTest, DoesNotDependOnTheOrderOfHostsAndOfferings) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    check_order(world);
  });
}

TEST(PlanPropertyTest, DoesNotDependOnThatOrderWithLeases) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    check_order(world);
  });
}

TEST(PlanPropertyTest, DoesNotDependOnThatOrderWithGangs) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    world.gather();
    check_order(world);
  });
}

void check_second_plan(RandomWorld& world) {
  world.snapshot.site = {};
  for (auto& room : world.snapshot.sets) room = {};
  for (auto& room : world.snapshot.pools) room = {};
  for (auto& p : world.policy.pools) p.sizes.max = 1000, p.sizes.min = 0, p.sizes.standby = 0;
  // Ending a spot request that took too long makes room for a new one: that is no repetition.
  // So does the end of a reservation.
  for (HostView& h : world.snapshot.hosts) h.unfulfilled_spot = false, h.reserved_for.reset();
  for (demand::ClassView& c : world.snapshot.classes) c.oldest = world.snapshot.now;
  const Plan first = world.plan();
  world.apply(first);
  const Plan second = world.plan();
  EXPECT_TRUE(second.creates.empty()) << text(world, first) << "then\n" << text(world, second);
  for (const Shutdown& end : second.shutdowns)
    EXPECT_LT(end.host.value, 1000U) << "ends what it has just created:\n" << text(world, second);
}

TEST(PlanPropertyTest, AnAppliedPlanIsNotRepeated) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    check_second_plan(world);
  });
}

TEST(PlanPropertyTest, AnAppliedPlanIsNotRepeatedForLeases) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    check_second_plan(world);
  });
}

TEST(PlanPropertyTest, AnAppliedPlanIsNotRepeatedForGangs) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    world.gather();
    // Hosts that the second plan may switch on may cost less than new ones.
    for (demand::ClassView& c : world.snapshot.classes) c.price.reset();
    check_second_plan(world);
  });
}

TEST(PlanPropertyTest, AReserveIsMadeOnceAndKept) {
  for_each_seed(300, [](std::uint64_t seed) {
    Random random(seed);
    const auto number = [&](std::uint64_t below) {
      return static_cast<std::int32_t>(random.below(below));
    };
    Site site;
    site.snapshot.offerings[site.type("small", 2, 4, 100)].can_stop = true;
    auto& pool = site.pool();
    pool.sizes.min = number(4), pool.sizes.standby = number(4), pool.sizes.stopped = number(4);
    std::size_t made = 0;
    for (int plans = 0; plans < 20; ++plans) {
      const Plan plan = site.plan();
      made += plan.creates.size();
      EXPECT_TRUE(plan.shutdowns.empty()) << pool.sizes.min << " " << pool.sizes.standby << " "
                                          << pool.sizes.stopped << " at plan " << plans;
      site.apply(plan);
      site.snapshot.now += std::chrono::seconds(number(60));
      for (HostView& h : site.snapshot.hosts) {
        h.can_stop = true;
        if (h.phase != HostPhase::kComing || !random.chance(0.2)) continue;
        h.phase = HostPhase::kReady, h.takes_work = true, h.since = site.snapshot.now;
      }
    }
    EXPECT_EQ(made, static_cast<std::size_t>(std::max(pool.sizes.min, pool.sizes.standby) +
                                             pool.sizes.stopped));
  });
}

/// The lowest price of a part, of the hosts that can be bought for one item of the class alone.
std::optional<model::Micros> cheapest_part(const Site& site, const demand::ClassView& cls) {
  const auto may_go = [&](const Offering& o) {
    const auto& pool = site.policy.pools[o.pool];
    const auto& wanted = cls.shape.constraints;
    return pool.sizes.min <= pool.sizes.max && pool.sizes.max > 0 &&
           cls.shape.needs.fits_in(o.resources) &&
           meets(cls.kind, wanted, pool, site.policy.types[o.type].name, o.zone, o.market) &&
           within_cap(o, site.policy);
  };
  double cheapest = HUGE_VAL;
  for (const Offering& o : site.snapshot.offerings)
    if (may_go(o)) cheapest = std::min(cheapest, static_cast<double>(o.price_per_hour.value));
  std::optional<model::Micros> out;
  for (const Offering& o : site.snapshot.offerings) {
    const double most = cheapest * site.policy.pools[o.pool].price_factor_max;
    if (!may_go(o) || !o.shut.empty() || static_cast<double>(o.price_per_hour.value) > most)
      continue;
    const auto part = demand::price_of_part(
        o.price_per_hour, cls.shape.needs, o.resources,
        model::jobs_max_of(site.policy.pools[o.pool], site.policy.types[o.type]));
    if (!out || part < *out) out = part;
  }
  return out;
}

TEST(PlanPropertyTest, StartsSomethingOfEachClassWhoseLimitPaysForAHostOfOneItem) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.snapshot.site = {};
    for (auto& room : world.snapshot.sets) room = {};
    for (auto& room : world.snapshot.pools) room = {};
    for (auto& p : world.policy.pools)
      p.sizes.max = 1000, p.price_factor_max = 1 + static_cast<double>(world.random.below(3)) / 4;
    for (Offering& o : world.snapshot.offerings) {
      o.market = Market::kOnDemand;
      o.price_per_hour.value *= 1000;
    }
    for (HostView& h : world.snapshot.hosts) h.unfulfilled_spot = false, h.reserved_for.reset();
    std::map<demand::ClassId, bool> payable;
    for (demand::ClassView& c : world.snapshot.classes) {
      const model::Micros most{static_cast<std::int64_t>(world.random.below(1'000'000))};
      const auto part = cheapest_part(world, c);
      c.price =
          demand::PriceBound({{.left = demand::PriceBound::only_price(most), .items = c.count}});
      payable[c.id] = part && *part <= most;
    }
    const Plan plan = world.plan();
    for (const Waiting& w : plan.waiting)
      if (payable[w.cls] && placed(plan, w.cls) == 0) {
        EXPECT_TRUE(w.code == model::WaitingCode::kHostComing ||
                    w.code == model::WaitingCode::kReserved)
            << "class " << w.cls << ": " << w.reason;
      }
  });
}

void check_left_over(RandomWorld& world) {
  for (HostView& h : world.snapshot.hosts) h.reserved_for.reset();
  const Plan plan = world.plan();
  world.apply(plan);
  for (const demand::ClassView& c : world.snapshot.classes)
    for (const HostView& h : world.snapshot.hosts) {
      if (h.phase != HostPhase::kReady || !h.takes_work || h.reserved_for) continue;
      if (std::ranges::find(plan.closed, h.id, &Close::host) != plan.closed.end()) continue;
      if (h.attempts_left < INT32_MAX || c.shape.constraints != model::Constraints{}) continue;
      if ((c.shape.exclusive && h.busy) || !takes(world.policy.pools[h.pool], c.kind)) continue;
      EXPECT_FALSE(c.shape.needs.fits_in(h.free)) << "class " << c.id << " on " << h.id.text();
    }
}

TEST(PlanPropertyTest, LeavesNothingWaitingThatFitsWhereNothingElseGoes) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    check_left_over(world);
  });
}

TEST(PlanPropertyTest, LeavesNoLeaseWaitingForWhichAHostIsEmpty) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.lend();
    check_left_over(world);
  });
}

}  // namespace
}  // namespace hostler::scheduler
