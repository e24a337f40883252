#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/world_builder.h"

/// Prices of hosts that a pool keeps without work rise above limits.
namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr auto kAbove = model::Reason::kAbovePriceLimit;

/// A minimum of one host, bought at 50, which costs 900 now. The menu knows that.
struct RisenMinimum : Site {
  const std::uint32_t dear = type("dear", 2, 4, 900);
  RisenMinimum() {
    pool().sizes.min = 1;
    host(1, dear).since = snapshot.now - 1h;
  }
};

// Bug: it was kept until jobs came.
TEST(RisenPricesTest, AKeptHostAboveTheCapEndsIfNothingCheaperCanBeBought) {
  RisenMinimum site;
  EXPECT_THAT(ended(site.plan()), IsEmpty());
  site.pool().price_cap_per_hour = {500};
  const Plan plan = site.plan();
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, kAbove)));
  EXPECT_THAT(plan.shutdowns[0].reason, HasSubstr("above the cap of pool default"));
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST(RisenPricesTest, ACheaperHostReplacesItFirstHoweverLittleThatSaves) {
  RisenMinimum site;
  site.pool().price_cap_per_hour = {890};
  const auto cheap = site.type("cheap", 2, 4, 880);
  Plan plan = site.plan();
  EXPECT_THAT(bought(plan), ElementsAre(cheap));
  EXPECT_THAT(ended(plan), IsEmpty());
  site.host(2, cheap).for_exchange = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kExchanged)));
}

TEST(RisenPricesTest, WhilePricesPassACeilingTheDearestGo) {
  RisenMinimum site;
  site.pool().sizes.standby = 3;
  const auto cheap = site.type("cheap", 2, 4, 100);
  for (const std::uint64_t id : {2, 3}) site.host(id, cheap).since = site.snapshot.now - 1h;
  for (gates::Headroom* room :
       {&site.snapshot.site, &site.snapshot.sets[0], &site.snapshot.pools[0]}) {
    room->price_per_hour = model::Micros{-901};
    EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, kAbove), Pair(2, kAbove)));
    room->price_per_hour = model::Micros{-900};
    EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, kAbove)));
    room->price_per_hour = model::Micros{0};
    EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kExchanged)));
    room->price_per_hour.reset();
  }
}

TEST(RisenPricesTest, AlsoWhileWorkWaitsForSomethingElse) {
  RisenMinimum site;
  site.pool().price_cap_per_hour = {500};
  site.jobs(1, 64);
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, kAbove)));
}

TEST(RisenPricesTest, AHostThatIsUsedHeldOrJustIdleStays) {
  const auto stays = [](auto change) {
    RisenMinimum site;
    site.pool().price_cap_per_hour = {500};
    change(site, site.snapshot.hosts[0]);
    EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  };
  stays([](RisenMinimum& s, HostView& h) { s.occupy(h, {.vcpus = 1}); });
  stays([](RisenMinimum& s, HostView&) { s.jobs(1, 1); });
  stays([](RisenMinimum&, HostView& h) { h.kept = true; });
  stays([](RisenMinimum& s, HostView& h) { h.since = s.snapshot.now - 1s; });
}

// Bug: the room of one dear host was counted as room below the ceiling, though others pass it.
TEST(RisenPricesTest, NothingGivesWayForWorkThatStillHasNoRoom) {
  Site site;
  const auto small = site.type("small", 2, 4, 100);
  site.type("large", 8, 16, 100);
  site.host(1, small);
  site.occupy(site.host(2, small), {.vcpus = 2});
  site.jobs(1, 8);
  site.snapshot.site.price_per_hour = model::Micros{-500};
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  site.snapshot.site.price_per_hour = model::Micros{0};
  EXPECT_THAT(site.plan().shutdowns, SizeIs(1));
}

}  // namespace
}  // namespace hostler::scheduler
