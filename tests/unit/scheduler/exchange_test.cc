#include "core/scheduler/exchange.h"

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

/// A minimum of one host at 90, and a type at 50.
struct DearMinimum : Site {
  const std::uint32_t cheap = type("cheap", 2, 4, 50), dear = type("dear", 2, 4, 90);
  DearMinimum() {
    pool().sizes.min = 1;
    host(1, dear).since = snapshot.now - 1h;
  }
  HostView& old() { return snapshot.hosts[0]; }
};

// Bug: the minimum kept the dear host for ever.
TEST(ExchangeTest, TheNewHostIsReadyBeforeTheOldOneGoes) {
  DearMinimum site;
  const Plan first = site.plan();
  ASSERT_THAT(first.creates, SizeIs(1));
  EXPECT_EQ(first.creates[0].offering, site.cheap);
  EXPECT_TRUE(first.creates[0].is_exchange);
  EXPECT_THAT(first.shutdowns, IsEmpty());

  HostView& fresh = site.host(2, site.cheap, HostPhase::kComing);
  fresh.for_exchange = true;
  EXPECT_THAT(site.plan().creates, IsEmpty()) << "one at a time";
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());

  fresh.phase = HostPhase::kReady, fresh.takes_work = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(1, model::Reason::kExchanged)));
}

TEST(ExchangeTest, ASpotRequestForItIsAwaitedForTheSpotPatience) {
  DearMinimum site;
  HostView& fresh =
      site.host(2, site.type("spot", 2, 4, 10, model::Market::kSpot), HostPhase::kComing);
  fresh.for_exchange = fresh.unfulfilled_spot = true;
  EXPECT_THAT(site.plan().shutdowns, IsEmpty());
  fresh.created = site.snapshot.now - site.pool().spot_patience;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kUnwantedSpot)));
}

TEST(ExchangeTest, AtACeilingTheOldHostGoesFirst) {
  DearMinimum site;
  site.pool().sizes.max = 1;
  const Plan plan = site.plan();
  EXPECT_THAT(ended(plan), ElementsAre(Pair(1, model::Reason::kExchanged)));
  EXPECT_THAT(plan.creates, IsEmpty());
}

TEST(ExchangeTest, OnlyIfAnHourSavesMoreThanTheBootCosts) {
  DearMinimum site;
  site.pool().boot_timeout = 48min;  // 50 an hour for it: 40
  EXPECT_THAT(site.plan().creates, IsEmpty());
  site.pool().boot_timeout = 47min;
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(ExchangeTest, NothingIsExchangedThatWorksWaitsOrRests) {
  const auto never = [](auto change) {
    DearMinimum site;
    change(site);
    const Plan plan = site.plan();
    EXPECT_THAT(plan.shutdowns, IsEmpty());
    for (const Create& create : plan.creates) EXPECT_FALSE(create.is_exchange);
  };
  never([](DearMinimum& s) { s.occupy(s.old(), {.vcpus = 1}); });
  never([](DearMinimum& s) { s.old().since = s.snapshot.now - 1s; });
  never([](DearMinimum& s) { s.old().kept = true; });
  never([](DearMinimum& s) { s.snapshot.offerings[s.cheap].shut = "no capacity"; });
  never([](DearMinimum& s) { s.snapshot.rests = {{.hosts = 0, .exchange = true}}; });
  never([](DearMinimum& s) { s.jobs(1, 64); });
  never([](DearMinimum& s) { s.snapshot.site.creates = 0; });
}

TEST(ExchangeTest, OneAtATimeInEachPoolTheDearestFirst) {
  DearMinimum site;
  site.pool().sizes.min = 3;
  site.host(2, site.type("dearer", 2, 4, 120)).since = site.snapshot.now - 1h;
  site.host(3, site.dear).since = site.snapshot.now - 1h;
  ASSERT_THAT(site.plan().creates, SizeIs(1));
  site.host(4, site.cheap).for_exchange = true;
  EXPECT_THAT(ended(site.plan()), ElementsAre(Pair(2, model::Reason::kExchanged)));
}

}  // namespace
}  // namespace hostler::scheduler
