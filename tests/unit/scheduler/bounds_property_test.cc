// Random worlds in which several sources say something of the bounds of pools. Replay one with
// HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/scheduler/bounds.h"
#include "tests/unit/scheduler/plan_checker.h"
#include "tests/unit/scheduler/random_bounds.h"

namespace hostler::scheduler {
namespace {

using enum BoundOf;

/// Half of the hosts of the world may be switched off; some are.
void add_power(RandomWorld& world) {
  for (Offering& o : world.snapshot.offerings) o.can_stop = world.random.chance(0.5);
  for (HostView& h : world.snapshot.hosts) {
    h.can_stop = world.random.chance(0.5);
    h.can_wake = h.phase == HostPhase::kStopped && world.random.chance(0.5);
  }
}

void forget_ceilings(Snapshot& snapshot) {
  snapshot.site = {};
  for (auto& room : snapshot.sets) room = {};
  for (auto& room : snapshot.pools) room = {};
}

/// A host that goes for one of these goes as its pool has too many, or has others that are better.
bool is_for_bounds(model::Reason code) {
  using enum model::Reason;
  return code == kIdle || code == kBootingSurplus || code == kStandbySurplus ||
         code == kBeyondMax || code == kGaveWay || code == kExchanged || code == kAbovePriceLimit;
}

TEST(BoundsPropertyTest, UnknownAloneEndsNothingAndSwitchesNothingOff) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    add_power(world);
    Random& random = world.random;
    for (auto& p : world.policy.pools)
      p.sizes = {.min = 0, .max = 1000, .standby = 0, .stopped = 0};
    world.snapshot.bounds.resize(world.policy.pools.size());
    for (auto& said : world.snapshot.bounds)
      for (std::size_t of = 0; of < kBoundsOfPool; ++of) {
        Bound bound{.of = static_cast<BoundOf>(of),
                    .source = "pushed",
                    .number = {},
                    .reason = {},
                    .until = {}};
        if (bound.of == kCreatedMin || random.chance(0.5)) said.push_back(bound);
      }
    const Plan plan = world.plan();
    for (const Shutdown& end : plan.shutdowns)
      EXPECT_FALSE(is_for_bounds(end.code)) << end.host.text() << ": " << end.reason;
    EXPECT_TRUE(plan.switch_offs.empty());
    for (const Close& close : plan.closed) EXPECT_NE(close.why, Closed::kBeyondMax);
    for (const Create& create : plan.creates)
      EXPECT_TRUE(create.for_class) << "an unknown bound creates nothing: " << create.reason;
  });
}

TEST(BoundsPropertyTest, AKnownMinimumCreatesWhateverElseIsUnknown) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    add_power(world);
    Random& random = world.random;
    forget_ceilings(world.snapshot);
    for (auto& p : world.policy.pools)
      p.sizes = {.min = 0, .max = 1000, .standby = 0, .stopped = 0}, p.price_cap_per_hour = {};
    for (Offering& o : world.snapshot.offerings) o.shut = "";
    for (std::size_t p = 0; p < world.policy.pools.size(); ++p)
      world.snapshot.set_aside.push_back(static_cast<std::int64_t>(random.below(3)));
    world.snapshot.bounds = random_bounds(random, world.policy.pools.size(), world.snapshot.now);
    for (auto& said : world.snapshot.bounds) {
      std::erase_if(said, [](const Bound& b) {
        return b.number && (b.of == kStartedMax || b.of == kCreatedMax);
      });
      said.push_back({kStartedMin, "admin", static_cast<std::int64_t>(random.below(20)), "", {}});
      said.push_back({kCreatedMin, "admin", static_cast<std::int64_t>(random.below(5)), "", {}});
    }
    const Plan plan = world.plan();
    const auto bounds = numbers_of(world.policy, world.snapshot.bounds, world.snapshot.hosts,
                                   world.snapshot.set_aside);
    std::vector<std::int64_t> alive(bounds.size());
    for (const HostView& h : world.snapshot.hosts) {
      const auto end = std::ranges::find(plan.shutdowns, h.id, &Shutdown::host);
      // What goes for another reason, or gives way, is replaced by a later plan.
      const bool ends = end != plan.shutdowns.end() && is_for_bounds(end->code) &&
                        !end->gives_way && end->code != model::Reason::kExchanged &&
                        end->code != model::Reason::kAbovePriceLimit;
      const bool wakes = std::ranges::find(plan.wakes, h.id, &Wake::host) != plan.wakes.end();
      if ((counts_for_max(h) && !ends) || wakes) ++alive[h.pool];
    }
    for (const Create& create : plan.creates)
      ++alive[world.snapshot.offerings[create.offering].pool];
    for (std::size_t p = 0; p < bounds.size(); ++p) {
      const bool may_buy = std::ranges::any_of(world.snapshot.offerings,
                                               [&](const Offering& o) { return o.pool == p; });
      if (!may_buy) continue;
      for (const Bound& said : world.snapshot.bounds[p])
        if (said.of == kStartedMin) {
          EXPECT_GE(alive[p], said.number.value_or(0)) << "pool " << p;
        }
    }
  });
}

TEST(BoundsPropertyTest, TheMaximumWins) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    add_power(world);
    world.snapshot.bounds =
        random_bounds(world.random, world.policy.pools.size(), world.snapshot.now);
    const Plan plan = world.plan();
    for (std::uint32_t p = 0; p < world.policy.pools.size(); ++p) {
      const auto& sizes = world.policy.pools[p].sizes;
      if (sizes.min > sizes.max) continue;
      std::int64_t started = sizes.max, created = kNoLimit;
      for (const Bound& said : world.snapshot.bounds[p]) {
        if (said.of == kStartedMax) started = std::min(started, said.number.value_or(kNoLimit));
        if (said.of == kCreatedMax) created = std::min(created, said.number.value_or(kNoLimit));
      }
      started = std::min(started, created);
      std::int64_t on = 0, all = 0, more = 0, standby = 0, woken = 0, stays = 0, kept = 0;
      const bool has_created =
          numbers_of(world.policy, world.snapshot.bounds, {}, {}, p).has_created;
      for (const HostView& h : world.snapshot.hosts) {
        if (h.pool != p || h.phase == HostPhase::kLeaving) continue;
        ++all;
        if (h.phase != HostPhase::kStopped) ++on;
        if (std::ranges::find(plan.wakes, h.id, &Wake::host) != plan.wakes.end()) ++woken;
        if (!counts_for_max(h)) continue;
        if (h.kept) ++kept;
        if (std::ranges::find(plan.closed, h.id, &Close::host) == plan.closed.end()) ++stays;
      }
      for (const Create& create : plan.creates)
        if (world.snapshot.offerings[create.offering].pool == p)
          ++(has_created && comes_as_standby(create) ? standby : more);
      EXPECT_TRUE(more + woken == 0 || on + more + woken <= started) << "pool " << p;
      EXPECT_TRUE(more + standby == 0 || all + more + standby <= created) << "pool " << p;
      EXPECT_LE(stays, std::max(started, kept)) << "pool " << p;
    }
  });
}

TEST(BoundsPropertyTest, APlanKeepsItsPromisesWhateverSourcesSay) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    add_power(world);
    world.snapshot.bounds =
        random_bounds(world.random, world.policy.pools.size(), world.snapshot.now);
    Checker(world, world.plan()).all();
  });
}

}  // namespace
}  // namespace hostler::scheduler
