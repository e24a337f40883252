#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "core/base/random.h"
#include "core/demand/shares.h"
#include "tests/unit/scheduler/limits_fixture.h"

/// Principals that may hold only so much of the hosts: what is beyond waits, and holds nobody up.
namespace hostler::scheduler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST_F(LimitsTest, TheNextIsOfWhoeverMayHoldMore) {
  const demand::ClassId a = cls(4);
  push(a, kAnn, 5);
  push(a, kBob, 5);
  queue.set_key(kBob, 9);
  limit_vcpus(kAnn, 7);
  EXPECT_EQ(queue.pop(a).arrival, 1U) << "seven cover one of four";
  limit_vcpus(kAnn, 3);
  EXPECT_EQ(queue.pop(a).arrival, 6U) << "the other user's";
  limit_vcpus(kBob, -1);
  EXPECT_FALSE(queue.has_next(a));
  EXPECT_EQ(queue.next(any), std::nullopt);
  EXPECT_THAT(queue.principals(), IsEmpty());
  limit_vcpus(kAnn, 4);
  EXPECT_EQ(queue.next(any), a);
  queue.set_allowance(kAnn, {});
  queue.set_allowance(kBob, {});
  EXPECT_FALSE(queue.has_limits());
  EXPECT_THAT(queue.principals(), SizeIs(2));
}

TEST_F(LimitsTest, SmallerWorkOfTheSameUserGoesOn) {
  const demand::ClassId wide = cls(8), narrow = cls(2);
  push(wide, kAnn);
  push(narrow, kAnn);
  limit_vcpus(kAnn, 7);
  EXPECT_EQ(queue.next(any), narrow);
  EXPECT_EQ(seen(wide), 0U);
  EXPECT_EQ(seen(narrow), 1U);
}

TEST_F(LimitsTest, APriceLimitCountsAtTheHostThatHasRoom) {
  const demand::ClassId a = cls(1);
  push(a, kAnn);
  limit_price(kAnn, 5'000);
  EXPECT_TRUE(queue.has_next(a, {{5'000}}));
  EXPECT_FALSE(queue.has_next(a, {{5'001}}));
  const auto at = [&](std::int64_t price) {
    return queue.next(any, [price](const demand::Queue::Class&) { return model::Micros{price}; });
  };
  EXPECT_EQ(at(5'000), a);
  EXPECT_EQ(at(5'001), std::nullopt);
}

TEST_F(LimitsTest, APlanBuysAndWakesNoHostsForMoreThanTheLimit) {
  const auto small = site.type("small", 2, 8, 100'000);
  const demand::ClassId a = cls(2);
  push(a, kAnn, 100);
  limit_vcpus(kAnn, 6);
  EXPECT_THAT(plan().creates, SizeIs(3));
  // Two of them boot already, for its work.
  for (std::uint64_t id = 1; id <= 2; ++id)
    site.host(id, small, HostPhase::kComing).load = {{a, 1}};
  EXPECT_THAT(plan().creates, SizeIs(1));
  limit_vcpus(kAnn, 4);
  EXPECT_THAT(plan().creates, IsEmpty());
  limit_vcpus(kAnn, 1);
  HostView& off = site.host(3, small, HostPhase::kStopped);
  off.can_stop = off.can_wake = true;
  EXPECT_THAT(plan().wakes, IsEmpty());
  EXPECT_THAT(plan().creates, IsEmpty());
  limit_vcpus(kAnn, 6);
  EXPECT_THAT(plan().wakes, SizeIs(1));
}

TEST_F(LimitsTest, OthersOfTheSameClassAndOfLowerPriorityGoOn) {
  site.type("small", 2, 8, 100'000);
  const demand::ClassId shared = cls(2, 5), low = cls(1);
  push(shared, kAnn, 100);
  push(shared, kBob, 2);
  push(low, kBob, 2);
  limit_vcpus(kAnn, 0);
  EXPECT_EQ(seen(shared), 2U);
  EXPECT_EQ(seen(low), 2U);
  EXPECT_THAT(plan().creates, SizeIs(3));
}

TEST_F(LimitsTest, WhatIsBeyondTheLimitDoesNotStarve) {
  const auto large = site.type("large", 8, 32, 400'000);
  site.pool().sizes.max = 1;
  HostView& host = site.host(1, large);
  site.occupy(host, {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0});
  const demand::ClassId wide = cls(8);
  push(wide, kAnn);
  EXPECT_THAT(plan().reservations, SizeIs(1));
  limit_vcpus(kAnn, 7);
  EXPECT_THAT(plan().reservations, IsEmpty());
}

TEST_F(LimitsTest, AReservedHostServesOthersWhenTheOneItWaitsForMayNotStart) {
  const auto large = site.type("large", 8, 32, 400'000);
  HostView& host = site.host(1, large);
  const demand::ClassId wide = cls(8), other = cls(1);
  push(wide, kAnn);
  push(other, kBob);
  host.reserved_for = wide;
  EXPECT_EQ(
      pick_next(queue, host, site.pool(), site.policy.types.back(), "", model::Market::kOnDemand),
      wide);
  limit_vcpus(kAnn, 7);
  EXPECT_EQ(
      pick_next(queue, host, site.pool(), site.policy.types.back(), "", model::Market::kOnDemand),
      other);
}

// Against a queue that looks at every item; each start takes of the allowance, each end gives back.
TEST_F(LimitsTest, ChoosesAsAnExhaustiveSearchWould) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    queue = {};
    arrival = 0;
    std::map<std::uint64_t, std::pair<demand::ClassId, demand::PrincipalId>> items;
    std::map<demand::PrincipalId, model::Vcpus> left;
    const auto principals = 1 + static_cast<demand::PrincipalId>(random.below(30));
    const auto limit = [&](demand::PrincipalId principal, model::Vcpus vcpus) {
      left[principal] = vcpus;
      limit_vcpus(principal, vcpus);
    };
    const auto some = [&] { return static_cast<demand::PrincipalId>(random.below(principals)); };
    for (int step = 0; step < 500; ++step) {
      if (random.chance(0.6)) {
        const auto thousandths = static_cast<std::int64_t>(random.below(40)) * 250;
        const demand::ClassId to = cls(model::Vcpus::of_thousandths(thousandths),
                                       static_cast<std::int32_t>(random.below(3)));
        const demand::PrincipalId who = some();
        push(to, who);
        items[arrival] = {to, who};
      }
      if (random.chance(0.2)) queue.set_key(some(), static_cast<double>(random.below(5)));
      if (random.chance(0.1)) limit(some(), static_cast<std::int32_t>(random.below(20)) - 2);
      if (random.chance(0.1)) {
        const demand::PrincipalId who = some();
        left.erase(who);
        queue.set_allowance(who, {});
      }
      const auto room = static_cast<std::int32_t>(random.below(11));
      const auto needs = [&](const auto& item) {
        return queue.at(item.second.first).shape.needs.vcpus;
      };
      const auto rank = [&](const auto& item) {
        return std::tuple(-queue.at(item.second.first).shape.priority,
                          queue.key(item.second.second), item.first);
      };
      const std::pair<const std::uint64_t, std::pair<demand::ClassId, demand::PrincipalId>>* best =
          nullptr;
      for (const auto& item : items) {
        const auto limited = left.find(item.second.second);
        const bool allowed =
            limited == left.end() || needs(item) == 0 || needs(item) <= limited->second;
        if (needs(item) <= room && allowed && (best == nullptr || rank(item) < rank(*best)))
          best = &item;
      }
      const auto found =
          queue.next([&](const demand::Queue::Class& of) { return of.shape.needs.vcpus <= room; });
      ASSERT_EQ(found.has_value(), best != nullptr) << seed << " " << step;
      if (!found) continue;
      ASSERT_EQ(*found, best->second.first) << seed << " " << step;
      ASSERT_EQ(queue.pop(*found).arrival, best->first) << seed << " " << step;
      if (const auto limited = left.find(best->second.second); limited != left.end())
        limit(limited->first, limited->second - needs(*best));
      items.erase(best->first);
    }
    for (const demand::ClassView& view : demand::views_by_turns(queue, 1, caps())) {
      ASSERT_GT(view.count, 0U);
      ASSERT_FALSE(view.heads.empty());
    }
  }
}

// A plan is applied as the dispatcher does: whatever the plan says, only what is allowed starts.
// The hosts that it buys never have more room than what the limits let start there.
TEST_F(LimitsTest, NeverBuysForMoreThanTheAllowancesOfAllTogether) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    site = {};
    queue = {};
    arrival = 0;
    for (int i = 0; i < 4; ++i)
      site.type("t" + std::to_string(i), 1 + static_cast<std::int32_t>(random.below(8)), 64,
                100'000 + static_cast<std::int64_t>(random.below(900'000)));
    for (Offering& offering : site.snapshot.offerings) {
      offering.resources.gpus = static_cast<std::int32_t>(random.below(5));
      if (random.chance(0.3)) offering.shut = "a gate is shut";
    }
    const auto principals = 1 + static_cast<demand::PrincipalId>(random.below(4));
    model::Vcpus vcpus;
    std::int64_t price = 0, gpus = 0;
    for (demand::PrincipalId p = 0; p < principals; ++p) {
      for (int i = 0; i < 3; ++i)
        push(cls(1 + static_cast<std::int32_t>(random.below(4)),
                 static_cast<std::int32_t>(random.below(2)),
                 static_cast<std::int32_t>(random.below(3))),
             p, 1 + static_cast<int>(random.below(30)));
      const auto most = static_cast<std::int32_t>(random.below(20));
      const auto paid = static_cast<std::int64_t>(random.below(3'000'000));
      const auto cards = static_cast<std::int64_t>(random.below(6));
      queue.set_allowance(p, {.vcpus = most, .gpus = cards, .price_per_hour = model::Micros{paid}});
      vcpus += most;
      gpus += cards;
      price += paid;
    }
    for (const Create& create : plan().creates) {
      const Offering& on = site.snapshot.offerings[create.offering];
      for (const demand::Load& load : create.load) {
        const auto& needs = queue.at(load.cls).shape.needs;
        vcpus -= needs.vcpus * static_cast<std::int64_t>(load.count);
        gpus -= std::int64_t{needs.gpus} * load.count;
        price -=
            demand::price_of_part(on.price_per_hour, needs, on.resources, model::kJobsOnHostMax)
                .value *
            static_cast<std::int64_t>(load.count);
      }
    }
    ASSERT_GE(vcpus, 0) << seed;
    ASSERT_GE(gpus, 0) << seed;
    ASSERT_GE(price, 0) << seed;
  }
}

}  // namespace
}  // namespace hostler::scheduler
