#include "tests/unit/dispatch/story.h"

/// A scratch disk that is asked for with each create is a part of the price.
namespace hostler::dispatch {
namespace {

using model::Micros;
using testing::SizeIs;

/// Type "small", 60 on the menu, with a disk of 100 GiB for 200.
model::SitePolicy site_with_disks() {
  auto site = small_site();
  site.types[0].added_scratch = 100 * kGiB;
  site.sets[0].volume_price = {2};
  return site;
}

void open(Story& story) {
  story.restore();
  model::SetInfo info;
  info.has_price_history = info.spot = true;
  story.say(SetOpened{"west", info});
}

TEST(VolumePricesTest, TheyDecideWhichTypeIsBought) {
  Story story(site_with_disks());
  open(story);
  EXPECT_EQ(story.dispatcher.queries().types().at(0).price_per_hour, Micros{260});
  story.submit({story.job()});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.all<CreateCall>()[0].request->type.name, "large") << "for 200";
}

TEST(VolumePricesTest, TheyAreAddedToWhatTheCloudSays) {
  auto site = site_with_disks();
  site.pools[0].types = {"small"};
  Story story(site);
  open(story);
  story.say_prices("small", std::vector<model::ZonePrice>{
                                {"", model::Market::kOnDemand, {story.now.wall + -1h, {50}}}});
  EXPECT_EQ(story.journalled<model::PriceRow>().at(0).point.per_hour, Micros{250});
  const auto [job, host] = story.running();
  EXPECT_EQ(story.record(host).price_per_hour, Micros{250});
  auto seen = story.seen(host);
  seen.price_per_hour = Micros{70};
  story.list({seen});
  EXPECT_EQ(story.record(host).price_per_hour, Micros{270});
}

TEST(VolumePricesTest, TheCapThatTheCloudIsToldIsForTheRest) {
  auto site = site_with_disks();
  site.pools[0].types = {"small"};
  site.types[0].market = model::Market::kSpot;
  site.pools[0].price_cap_per_hour = {300};
  Story story(site);
  open(story);
  story.submit({story.job()});
  story.say_prices("small", std::vector<model::ZonePrice>{});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.all<CreateCall>()[0].request->price_cap_per_hour, Micros{100});
}

TEST(VolumePricesTest, AReloadWithAnotherOneAsksForThePricesAgain) {
  auto site = site_with_disks();
  site.pools[0].types = {"small"};
  site.pools[0].price_cap_per_hour = {300};
  Story story(site);
  open(story);
  const auto say = [&] {
    story.say_prices("small", std::vector<model::ZonePrice>{
                                  {"", model::Market::kOnDemand, {story.now.wall + -1h, {50}}}});
  };
  say();
  site.sets[0].volume_price = {3};
  story.say(PolicyChanged{site});
  story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(0)) << "its price is not known yet";
  say();
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(0)) << "350 is above the cap";
}

}  // namespace
}  // namespace hostler::dispatch
