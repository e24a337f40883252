// Random worlds in which pools scale on expressions. Replay one with HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/scheduler/bounds.h"
#include "core/scheduler/lifetime.h"
#include "tests/unit/scheduler/plan_checker.h"
#include "tests/unit/scheduler/plan_text.h"
#include "tests/unit/scheduler/random_scaling.h"

namespace hostler::scheduler {
namespace {

using enum BoundOf;

bool goes(const Plan& plan, model::InstanceId host) {
  const auto is_it = [&](const auto& one) { return one.host == host; };
  return std::ranges::any_of(plan.shutdowns, is_it) ||
         std::ranges::any_of(plan.switch_offs, is_it) || std::ranges::any_of(plan.drains, is_it);
}

/// The reason why a host that goes has to go, whatever bounds say.
bool is_of_the_host(model::Reason code) {
  using enum model::Reason;
  return code == kInterrupted || code == kUnreachable || code == kDrained || code == kFailed ||
         code == kOffMenu || code == kUnwantedSpot;
}

TEST(ScalingPropertyTest, APlanKeepsItsPromises) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    const Plan plan = world.plan();
    Checker(world, plan).all();
    for (const Place& place : plan.places)
      for (const HostView& h : world.snapshot.hosts)
        if (h.id == place.host) {
          EXPECT_EQ(h.drain, DrainPhase::kNone);
        }
    for (const Drain& drain : plan.drains) {
      const auto h = std::ranges::find(world.snapshot.hosts, drain.host, &HostView::id);
      EXPECT_TRUE(h->phase == HostPhase::kReady && !h->busy && h->drain == DrainPhase::kNone);
      EXPECT_TRUE(world.policy.pools[h->pool].scaling.drain) << drain.reason;
    }
  });
}

TEST(ScalingPropertyTest, TextsThatAreUnknownEndAndSwitchOffNothing) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    for (auto& pool : world.policy.pools)
      pool.sizes.texts = {.min = "a", .max = "b", .created_min = "c", .created_max = "d"};
    world.snapshot.bounds.clear();
    const Plan plan = world.plan();
    for (const Shutdown& end : plan.shutdowns)
      EXPECT_TRUE(is_of_the_host(end.code)) << end.host.text() << ": " << end.reason;
    EXPECT_TRUE(plan.drains.empty());
    for (const SwitchOff& off : plan.switch_offs) EXPECT_EQ(off.code, model::Reason::kDrained);
  });
}

TEST(ScalingPropertyTest, YoungHostsDoNotGoBecauseOfBounds) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    for (auto& pool : world.policy.pools) pool.scaling.lifetime_min = 10min;
    const Plan plan = world.plan();
    for (const HostView& h : world.snapshot.hosts) {
      if (!is_young(h, world.policy.pools[h.pool], world.snapshot.now) || !goes(plan, h.id))
        continue;
      const auto end = std::ranges::find(plan.shutdowns, h.id, &Shutdown::host);
      const bool is_of_host =
          h.drain == DrainPhase::kOver ||
          (end != plan.shutdowns.end() && (is_of_the_host(end->code) || end->gives_way ||
                                           end->code == model::Reason::kAbovePriceLimit));
      EXPECT_TRUE(is_of_host) << h.id.text() << "\n" << text(world, plan);
    }
  });
}

TEST(ScalingPropertyTest, NoPlanCreatesBeyondTheMaximumOfCreatedHosts) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    const Plan plan = world.plan();
    const auto bounds = numbers_of(world.policy, world.snapshot.bounds, world.snapshot.hosts,
                                   world.snapshot.set_aside);
    for (std::uint32_t p = 0; p < bounds.size(); ++p) {
      const auto creates = std::ranges::count_if(plan.creates, [&](const Create& create) {
        return world.snapshot.offerings[create.offering].pool == p;
      });
      const auto there = std::ranges::count_if(world.snapshot.hosts, [&](const HostView& h) {
        return h.pool == p && h.phase != HostPhase::kLeaving;
      });
      EXPECT_TRUE(creates == 0 || there + creates <= bounds[p].created.max.value) << "pool " << p;
    }
  });
}

/// Plans that are applied until one does nothing: each host goes up and down once at most.
void check_that_plans_end(RandomWorld& world) {
  world.snapshot.classes.clear();
  world.snapshot.site = {};
  for (auto& room : world.snapshot.sets) room = {};
  for (auto& room : world.snapshot.pools) room = {};
  for (HostView& h : world.snapshot.hosts) {
    h.unfulfilled_spot = h.unseen = h.work_cancelled = false;
    h.unreachable_since.reset(), h.reserved_for.reset();
    if (h.offering < world.snapshot.offerings.size())
      h.can_stop = world.snapshot.offerings[h.offering].can_stop;
  }
  // Nothing is dearer than others, so none is exchanged.
  for (Offering& o : world.snapshot.offerings) o.price_per_hour = {100};
  for (HostView& h : world.snapshot.hosts) h.price_per_hour = {100};
  for (auto& pool : world.policy.pools) pool.price_cap_per_hour = {};
  std::string done;
  for (int plans = 0; plans < 12; ++plans) {
    const Plan plan = world.plan();
    if (does_nothing(plan)) return;
    done += text(world, plan) + "--\n";
    world.apply(plan);
    settle(world);
    world.snapshot.now += 1h;
  }
  ADD_FAILURE() << "plans go on for ever:\n" << done;
}

TEST(ScalingPropertyTest, AnUnchangedWorldComesToRest) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    check_that_plans_end(world);
  });
}

TEST(ScalingPropertyTest, APlanThatWasAppliedIsNotRepeated) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    scale(world);
    world.snapshot.classes.clear();
    const Plan first = world.plan();
    world.apply(first);
    const Plan second = world.plan();
    for (const Create& create : first.creates)
      EXPECT_TRUE(std::ranges::none_of(second.shutdowns,
                                       [&](const Shutdown& end) { return end.host.value >= 1000; }))
          << create.reason << "\n"
          << text(world, first) << "then\n"
          << text(world, second);
    for (const Drain& drain : second.drains) EXPECT_FALSE(goes(first, drain.host));
    for (const SwitchOff& off : second.switch_offs) EXPECT_FALSE(goes(first, off.host));
  });
}

}  // namespace
}  // namespace hostler::scheduler
