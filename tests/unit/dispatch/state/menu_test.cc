#include "core/dispatch/state/menu.h"

#include <gmock/gmock.h>

#include "core/dispatch/state/sets.h"
#include "tests/unit/dispatch/story.h"

namespace hostler::dispatch {
namespace {

using model::Market;

TEST(MenuTest, OffersEachTypeInEachZoneOfItsPoolsSets) {
  auto policy = small_site();
  policy.types[1].zones = {"a", "b"};
  const Menu menu(policy);
  std::vector<std::string> all;
  for (const auto& offering : menu.offerings())
    all.push_back(policy.types[offering.type].name + " " + offering.zone);
  EXPECT_THAT(all, testing::ElementsAre("small ", "large a", "large b"));
}

TEST(MenuTest, AnInstanceWhoseZoneHasLeftKeepsAnOfferingOfItsType) {
  auto policy = small_site();
  policy.types[1].zones = {"a", "b"};
  const Menu menu(policy);
  fleet::Instance instance;
  instance.type = 1;
  instance.record.zone = "c";
  const auto index = menu.offering_of(instance);
  ASSERT_LT(index, menu.offerings().size());
  EXPECT_EQ(menu.offerings()[index].type, 1U);
  instance.type.reset();
  EXPECT_EQ(menu.offering_of(instance), UINT32_MAX) << "its type has left the menu";
}

TEST(MenuTest, KnowsTheLeastPriceOfATypeInEachSetOfAPool) {
  auto policy = small_site();
  policy.sets.emplace_back().name = "east";
  policy.types[1].zones = {"a", "b"};
  policy.zone_prices[{"large", "b"}] = {150};
  policy.pools.push_back(policy.pools[0]);
  policy.pools[1].name = "other";
  policy.pools[0].sets = {"west", "east"};
  Menu menu(policy);
  using Prices = std::map<std::uint32_t, model::Micros>;
  EXPECT_EQ(menu.least_prices(0, 1), (Prices{{0, {150}}, {1, {150}}}));
  EXPECT_EQ(menu.least_prices(1, 0), (Prices{{0, {60}}}));
  (void)menu.take_prices(1, "large", {{"a", Market::kOnDemand, {Wall{1}, {99}}}}, Wall{10});
  EXPECT_EQ(menu.least_prices(0, 1), (Prices{{0, {150}}, {1, {99}}}));
}

TEST(MenuTest, ANewPriceIsInForceAtOnceAndIsNewsOnce) {
  const auto policy = small_site();
  Menu menu(policy);
  const std::vector<model::ZonePrice> fetched{{"", Market::kOnDemand, {Wall{1}, {75}}}};
  const auto first = menu.take_prices(0, "small", fetched, Wall{10});
  EXPECT_EQ(first.news.size(), 1U);
  EXPECT_TRUE(first.changed);
  EXPECT_EQ(menu.offerings()[0].price_per_hour, model::Micros{75});
  EXPECT_TRUE(menu.take_prices(0, "small", fetched, Wall{11}).news.empty());
}

TEST(MenuTest, ATypeThatRefusedToStopMayBeTriedAgainAfterAReload) {
  const auto policy = small_site();
  Menu menu(policy);
  EXPECT_TRUE(menu.refuse_stop(0, "small"));
  EXPECT_FALSE(menu.refuse_stop(0, "small")) << "it was known";
  EXPECT_TRUE(menu.refuses_stop(0, "small"));
  EXPECT_FALSE(menu.refuses_stop(0, "large"));
  EXPECT_TRUE(menu.reload().empty());
  EXPECT_FALSE(menu.refuses_stop(0, "small"));
}

}  // namespace
}  // namespace hostler::dispatch
