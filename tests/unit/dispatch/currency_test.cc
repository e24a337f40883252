#include "tests/unit/dispatch/story.h"

/// Prices are in the currency of the site, whatever the cloud's is.
namespace hostler::dispatch {
namespace {

using model::Micros;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CurrencyTest : public testing::Test {
 protected:
  void open(const model::SitePolicy& site) {
    story.restore();
    story.say(PolicyChanged{site});
    model::SetInfo info;
    info.has_price_history = true;
    info.spot = true;
    info.currency = "EUR";
    story.say(SetOpened{"west", info});
  }
  static model::SitePolicy in_dollars(bool has_rate) {
    auto site = small_site();
    site.currency = "USD";
    if (has_rate) site.exchange_rates["EUR"] = 2;
    return site;
  }
  void say_price(std::int64_t price) {
    story.say_prices("small", std::vector<model::ZonePrice>{
                                  {"", model::Market::kOnDemand, {story.now.wall + -1h, {price}}}});
  }
  Story story;
};

TEST_F(CurrencyTest, PricesOfTheCloudAreConverted) {
  open(in_dollars(true));
  say_price(50);
  ASSERT_THAT(story.journalled<model::PriceRow>(), SizeIs(1));
  EXPECT_EQ(story.journalled<model::PriceRow>()[0].point.per_hour, Micros{100});
}

TEST_F(CurrencyTest, PricesWithoutARateAreNotUsedAndTheSetSaysSo) {
  open(in_dollars(false));
  say_price(50);
  EXPECT_THAT(story.journalled<model::PriceRow>(), IsEmpty());
  EXPECT_THAT(story.dispatcher.queries().sets(story.now).at(0).conditions,
              ElementsAre(HasSubstr("`exchange_rates` has no rate for EUR")));
}

TEST_F(CurrencyTest, ASiteThatNamesNoneTakesThemAsTheyAre) {
  open(small_site());
  say_price(50);
  EXPECT_EQ(story.journalled<model::PriceRow>().at(0).point.per_hour, Micros{50});
}

TEST_F(CurrencyTest, TheCapIsToldToTheCloudInItsCurrency) {
  auto site = in_dollars(true);
  site.types[0].market = model::Market::kSpot;
  site.pools[0].types = {"small"};
  site.pools[0].price_cap_per_hour = {101};
  open(site);
  story.submit({story.job()});
  story.say_prices("small", std::vector<model::ZonePrice>{});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.all<CreateCall>()[0].request->price_cap_per_hour, Micros{50});
}

TEST_F(CurrencyTest, ACapThatCannotBeToldHoldsTheCreateBack) {
  auto site = in_dollars(false);
  site.types[0].market = model::Market::kSpot;
  site.pools[0].types = {"small"};
  site.pools[0].price_cap_per_hour = {101};
  open(site);
  const auto id = story.submit({story.job()}).at(0);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_THAT(story.dispatcher.queries().waiting(id)->reason, HasSubstr("no rate for EUR"));
}

}  // namespace
}  // namespace hostler::dispatch
