#include "tests/unit/dispatch/story.h"

/// Where a price limit applies, nothing is bought before its cloud has said what it costs now.
namespace hostler::dispatch {
namespace {

using model::Market;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class FirstPricesTest : public testing::Test {
 protected:
  void open(const model::SitePolicy& site, const std::string& currency = "",
            model::Restored restored = {}) {
    story = Story(site);
    story.restore(std::move(restored));
    model::SetInfo info;
    info.has_price_history = info.spot = true;
    info.currency = currency;
    story.say(SetOpened{"west", info});
  }
  /// The pool pays at most 1000 for a host of "small", which is 60 on the menu.
  static model::SitePolicy capped() {
    auto site = small_site();
    site.pools[0].types = {"small"};
    site.pools[0].price_cap_per_hour = {1000};
    return site;
  }
  void say(std::int64_t price, Market market = Market::kOnDemand) {
    story.say_prices("small",
                     std::vector<model::ZonePrice>{{"", market, {story.now.wall + -1h, {price}}}});
  }
  std::size_t bought() const { return story.all<CreateCall>().size(); }
  std::string reason(WorkId id) const { return story.dispatcher.queries().waiting(id)->reason; }
  model::TypeView small() const { return story.dispatcher.queries().types().at(0); }

  Story story;
};

TEST_F(FirstPricesTest, NothingIsBoughtUnderACapBeforeTheAnswer) {
  open(capped());
  const auto id = story.submit({story.job()}).at(0);
  EXPECT_EQ(bought(), 0);
  EXPECT_THAT(reason(id), HasSubstr("has not said yet what it costs, and the price cap of pool "
                                    "default applies"));
  say(900);
  ASSERT_EQ(bought(), 1);
  EXPECT_EQ(story.record(story.all<CreateCall>()[0].instance).price_per_hour, model::Micros{900});
}

TEST_F(FirstPricesTest, EachPriceCeilingIsSuchALimit) {
  for (int which = 0; which < 3; ++which) {
    auto site = small_site();
    auto& ceilings = which == 0   ? site.ceilings
                     : which == 1 ? site.sets[0].ceilings
                                  : site.pools[0].ceilings;
    ceilings.price_per_hour_max = {1000};
    open(site);
    story.submit({story.job()});
    EXPECT_EQ(bought(), 0);
  }
}

TEST_F(FirstPricesTest, WithoutALimitNothingWaits) {
  auto site = capped();
  site.pools[0].price_cap_per_hour = {};
  open(site);
  story.submit({story.job()});
  EXPECT_EQ(bought(), 1);
}

// Bug: the host was bought at the configured price, before the first answer.
TEST_F(FirstPricesTest, ExchangeRatesByReloadAskForThePricesFirst) {
  auto site = capped();
  site.types[0].market = Market::kSpot;
  site.currency = "USD";
  open(site, "EUR");
  story.submit({story.job()});
  say(5450, Market::kSpot);
  story.clear();
  site.exchange_rates["EUR"] = 1;
  story.say(PolicyChanged{site});
  EXPECT_EQ(bought(), 0);
  ASSERT_THAT(story.all<PricesCall>(), SizeIs(1)) << "at once";
  say(5450, Market::kSpot);
  EXPECT_EQ(bought(), 0) << "it is above the cap";
}

TEST_F(FirstPricesTest, AnotherRateIsAnotherPrice) {
  auto site = capped();
  site.currency = "USD";
  site.exchange_rates["EUR"] = 1;
  open(site, "EUR");
  say(900);
  site.exchange_rates["EUR"] = 2;
  story.say(PolicyChanged{site});
  story.submit({story.job()});
  EXPECT_EQ(bought(), 0);
  say(900);
  EXPECT_EQ(bought(), 0) << "1800 is above the cap";
  EXPECT_EQ(small().price_per_hour, model::Micros{1800});
  site.exchange_rates["EUR"] = 1;
  story.say(PolicyChanged{site});
  say(900);
  EXPECT_EQ(bought(), 1);
}

TEST_F(FirstPricesTest, WithoutARateALimitForbidsOnDemandHostsToo) {
  auto site = capped();
  site.currency = "USD";
  open(site, "EUR");
  const auto id = story.submit({story.job()}).at(0);
  say(5450);
  EXPECT_EQ(bought(), 0);
  EXPECT_THAT(reason(id), HasSubstr("no rate for EUR"));
}

TEST_F(FirstPricesTest, AnAnswerWithoutThePriceLetsTheConfiguredOneCount) {
  open(capped());
  story.submit({story.job()});
  say(50, Market::kSpot);
  EXPECT_EQ(bought(), 1);
  EXPECT_TRUE(small().configured);
  EXPECT_EQ(small().price_per_hour, model::Micros{60});
}

TEST_F(FirstPricesTest, TypesShowThePriceThatCounts) {
  open(capped());
  say(900);
  EXPECT_EQ(small().price_per_hour, model::Micros{900});
  EXPECT_FALSE(small().configured);
  EXPECT_EQ(small().zones.at(0).price_per_hour, model::Micros{900});
}

TEST_F(FirstPricesTest, TenMinutesOfRefusalsLetTheConfiguredPriceCountWithAnAlarm) {
  open(capped());
  const auto id = story.submit({story.job()}).at(0);
  const auto refuse = [&] {
    story.say_prices("small", tl::unexpected(error(CloudErrorClass::kInvalid)));
  };
  refuse();
  EXPECT_THAT(reason(id), HasSubstr("the cloud says no"));
  for (int minute = 1; minute < 10; ++minute) {
    story.pass(1min);
    refuse();
  }
  EXPECT_EQ(bought(), 0);
  story.pass(50s);
  EXPECT_EQ(bought(), 0);
  story.pass(10s);
  EXPECT_EQ(bought(), 1);
  EXPECT_THAT(story.ledger(), Contains("set west prices_unknown"));
  EXPECT_THAT(story.dispatcher.queries().sets(story.now).at(0).conditions,
              Contains(HasSubstr("does not say what these types cost: small")));
}

TEST_F(FirstPricesTest, AnAnswerEndsTheAlarm) {
  open(capped());
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kInvalid)));
  story.pass(11min);
  say(50);
  EXPECT_THAT(story.dispatcher.queries().sets(story.now).at(0).conditions, IsEmpty());
}

TEST_F(FirstPricesTest, ARestartWaitsForTheAnswerToo) {
  model::Restored restored;
  restored.prices.push_back({"west", "small", "", Market::kOnDemand, {story.now.wall + -2h, {50}}});
  open(capped(), "", std::move(restored));
  story.submit({story.job()});
  EXPECT_EQ(bought(), 0) << "the price may have risen while nobody asked";
  say(2000, Market::kOnDemand);
  EXPECT_EQ(bought(), 0);
}

TEST_F(FirstPricesTest, ADriverWithoutPricesOfATypeHoldsNothingBack) {
  open(capped());
  story.submit({story.job()});
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kUnsupported)));
  EXPECT_EQ(bought(), 1);
}

// The price of spot comes some milliseconds later than that of on-demand.
TEST_F(FirstPricesTest, SpotWhosePriceIsAwaitedIsNoShortageOfSpot) {
  auto site = capped();
  site.pools[0].types = {"small", "large"};
  site.types[0].market = Market::kSpot;
  open(site);
  story.submit({story.job()});
  story.say_prices("large", std::vector<model::ZonePrice>{});
  EXPECT_EQ(bought(), 0);
  say(50, Market::kSpot);
  ASSERT_EQ(bought(), 1);
  EXPECT_EQ(story.all<CreateCall>()[0].request->type.name, "small");
}

// Bug: only lists changed what a host costs, and many say -1.
TEST_F(FirstPricesTest, HostsThatRunCostWhatTheHistorySays) {
  auto site = capped();
  site.ceilings.price_per_hour_max = {1500};
  open(site);
  say(700);
  const auto [job, host] = story.running();
  story.pass(11min);
  say(1400);
  EXPECT_EQ(story.record(host).price_per_hour, model::Micros{1400});
  story.submit({story.job(2)});
  story.pass(11min);
  say(200);
  EXPECT_EQ(bought(), 2) << "1400 + 1400 is above the ceiling, 200 + 200 is not";
}

TEST_F(FirstPricesTest, AListThatSaysWhatAHostCostsIsRight) {
  open(capped());
  say(700);
  const auto [job, host] = story.running();
  auto seen = story.seen(host);
  seen.price_per_hour = model::Micros{650};
  story.list({seen});
  story.pass(11min);
  say(900);
  EXPECT_EQ(story.record(host).price_per_hour, model::Micros{650});
}

}  // namespace
}  // namespace hostler::dispatch
