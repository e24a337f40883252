// Random sites with cards of several kinds. Replay one with HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/scheduler/fit.h"
#include "tests/unit/scheduler/card_checker.h"
#include "tests/unit/scheduler/plan_checker.h"
#include "tests/unit/scheduler/plan_text.h"

namespace hostler::scheduler {
namespace {

void check_cards(const RandomWorld& world, const Plan& plan) {
  for (auto& [id, items] : card_items(world, plan.places)) {
    const auto host = std::ranges::find(world.snapshot.hosts, model::InstanceId{id}, &HostView::id);
    model::GpuGroups free = free_cards(world, *host);
    EXPECT_TRUE(hold_all(free, items)) << "on " << host->id.text();
  }
  for (const Create& create : plan.creates) {
    std::vector<Place> load;
    for (const auto& [cls, count] : create.load) load.push_back({{1}, cls, count});
    model::GpuGroups free = world.snapshot.offerings[create.offering].gpus;
    if (free.empty()) free.push_back({"", 0, 1000});
    for (const auto& [id, items] : card_items(world, load))
      EXPECT_TRUE(hold_all(free, items)) << "on a new host of " << create.offering;
  }
}

TEST(GpusPropertyTest, NoItemGoesWhereTheCardsDoNotHoldIt) {
  std::size_t with_cards = 0;
  for_each_seed(1500, [&](std::uint64_t seed) {
    RandomWorld world(seed);
    if (seed % 3 == 0) world.lend();
    if (seed % 6 == 0) world.gather();
    world.add_cards();
    const Plan plan = world.plan();
    Checker(world, plan).all();
    if (seed % 3 != 0) check_cards(world, plan);
    with_cards += card_items(world, plan.places).size();
  });
  EXPECT_TRUE(with_cards > 100 || std::getenv("HOSTLER_PLAN_SEED") != nullptr);
}

TEST(GpusPropertyTest, TheOrderOfGroupsHostsAndOfferingsChangesNothing) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.add_cards();
    const std::string before = text(world, world.plan());
    EXPECT_EQ(text(world, world.plan()), before);
    for (Offering& o : world.snapshot.offerings) std::ranges::reverse(o.gpus);
    for (HostView& h : world.snapshot.hosts) {
      std::ranges::reverse(h.gpus);
      std::rotate(h.cards.begin(), h.cards.begin() + (h.cards.empty() ? 0 : 1), h.cards.end());
    }
    shuffle(world.snapshot.hosts, world.random);
    const auto moved_to = shuffle(world.snapshot.offerings, world.random);
    for (HostView& h : world.snapshot.hosts)
      if (h.offering < moved_to.size()) h.offering = moved_to[h.offering];
    EXPECT_EQ(text(world, world.plan()), before);
  });
}

/// Types and work with cards, and nothing else that keeps work waiting.
class CardSite : public RandomWorld {
 public:
  explicit CardSite(std::uint64_t seed) : RandomWorld(seed) {
    snapshot.hosts.clear();
    snapshot.site = {};
    for (auto& room : snapshot.sets) room = {};
    for (auto& room : snapshot.pools) room = {};
    for (auto& p : policy.pools) {
      p.sizes = {};
      p.sizes.max = 1000;
      p.price_cap_per_hour = {};
    }
    for (Offering& o : snapshot.offerings) o.shut.clear(), o.market = Market::kOnDemand;
    for (demand::ClassView& c : snapshot.classes) c.shape.constraints = {};
    add_cards();
    std::erase_if(snapshot.classes, [&](const demand::ClassView& c) {
      return std::ranges::none_of(
          snapshot.offerings, [&](const Offering& o) { return fits(c.shape, c.kind, o, policy); });
    });
  }
  [[nodiscard]] std::uint64_t waiting() const {
    std::uint64_t out = 0;
    for (const demand::ClassView& c : snapshot.classes) out += c.count;
    return out;
  }
  /// Time passes, and some hosts are ready.
  void boot(double chance) {
    snapshot.now += 1min;
    for (HostView& h : snapshot.hosts) {
      if (h.phase != HostPhase::kComing || !random.chance(chance)) continue;
      h.phase = HostPhase::kReady, h.takes_work = true, h.since = snapshot.now;
    }
    std::erase_if(snapshot.hosts, [](const auto& h) { return h.phase == HostPhase::kLeaving; });
  }
  /// All work of some hosts ends.
  void end_work(double chance) {
    for (HostView& h : snapshot.hosts) {
      if (!h.busy || !random.chance(chance)) continue;
      const model::GpuGroups& gpus = snapshot.offerings[h.offering].gpus;
      h.free = h.total;
      h.cards = gpus.size() > 1 ? gpus : model::GpuGroups{};
      h.busy = false;
      h.since = snapshot.now;
      h.attempts_left = INT32_MAX;
    }
  }
};

TEST(GpusPropertyTest, AllWorkGetsCardsAndThenNoMoreHostsAreBought) {
  for_each_seed(600, [](std::uint64_t seed) {
    CardSite site(seed);
    const std::uint64_t items = site.waiting();
    std::uint64_t creates = 0;
    for (int plans = 0; plans < 60 && (site.waiting() > 0 || plans < 3); ++plans) {
      const Plan plan = site.plan();
      check_cards(site, plan);
      creates += plan.creates.size();
      site.apply(plan);
      site.boot(0.5);
    }
    EXPECT_EQ(site.waiting(), 0U);
    EXPECT_LE(creates, 2 * items) << "urgent work takes hosts that others were bought for";
    for (const HostView& h : site.snapshot.hosts) EXPECT_NE(h.phase, HostPhase::kStopped);
    EXPECT_TRUE(site.plan().creates.empty());
  });
}

TEST(GpusPropertyTest, AnAppliedPlanIsNotRepeated) {
  for_each_seed(500, [](std::uint64_t seed) {
    CardSite site(seed);
    const Plan first = site.plan();
    site.apply(first);
    const Plan second = site.plan();
    EXPECT_TRUE(second.creates.empty()) << text(site, first) << "then\n" << text(site, second);
  });
}

TEST(GpusPropertyTest, NoItemWaitsForEverInASmallPool) {
  for_each_seed(200, [](std::uint64_t seed) {
    CardSite site(seed);
    for (auto& p : site.policy.pools) p.sizes.max = 1 + static_cast<std::int32_t>(seed % 3);
    int plans = 0;
    for (; plans < 1500 && site.waiting() > 0; ++plans) {
      site.apply(site.plan());
      site.boot(0.5);
      site.end_work(0.3);
    }
    EXPECT_EQ(site.waiting(), 0U) << "after " << plans << " plans:\n" << text(site, site.plan());
  });
}

}  // namespace
}  // namespace hostler::scheduler
