#include "tests/unit/dispatch/story.h"

/// What clouds say of prices decides, and is journalled.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PricesTest : public testing::Test {
 protected:
  void SetUp() override {
    story.restore();
    model::SetInfo info;
    info.has_price_history = true;
    story.say(SetOpened{"west", info});
  }
  void say_price(const std::string& type, std::int64_t price, Duration ago = 1h) {
    story.say_prices(type, std::vector<model::ZonePrice>{
                               {"", model::Market::kOnDemand, {story.now.wall + -ago, {price}}}});
  }
  std::string type_bought() {
    story.submit({story.job()});
    const auto calls = story.all<CreateCall>();
    return calls.empty() ? "none" : calls.back().request->type.name;
  }

  Story story;
};

TEST_F(PricesTest, AsksForEveryTypeAndAgainInItsTime) {
  const auto first = story.all<PricesCall>();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].type.name, "large");
  EXPECT_EQ(first[0].since, story.now.wall + -24h) << "the first time for the last day";
  story.say_prices("large", std::vector<model::ZonePrice>{});
  say_price("small", 50);
  const Wall known = story.journalled<model::PriceRow>().at(0).point.start;
  story.clear();
  story.pass(11min);
  ASSERT_THAT(story.all<PricesCall>(), SizeIs(2));
  EXPECT_EQ(story.all<PricesCall>()[1].type.name, "small");
  EXPECT_EQ(story.all<PricesCall>()[1].since, known) << "only what came since";
}

TEST_F(PricesTest, WhatTheCloudSaysGoesBeforeTheMenu) {
  EXPECT_EQ(type_bought(), "small") << "by the menu's 60 and 200";
}

TEST_F(PricesTest, ADearOneIsPassedOver) {
  say_price("small", 900);
  EXPECT_EQ(type_bought(), "large");
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).record.price_per_hour, model::Micros{200});
}

// Bug: such a submit was refused with "no instance type of this site can ever run it".
TEST_F(PricesTest, WorkWaitsForAPriceThatItsPoolPays) {
  auto site = small_site();
  site.pools[0].price_cap_per_hour = {300};
  story.say(PolicyChanged{site});
  say_price("small", 900);
  say_price("large", 900);
  EXPECT_EQ(type_bought(), "none");
  EXPECT_THAT(story.dispatcher.queries().waiting(WorkId{1})->reason,
              testing::HasSubstr("above the cap"));
  story.pass(11min);
  say_price("small", 100, 1min);
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

// Bug: each answer of one type walked over all hosts.
TEST_F(PricesTest, HostsAreRepricedOnceForAllAnswersOfABatch) {
  const auto asked = story.all<PricesCall>();
  ASSERT_THAT(asked, SizeIs(2));
  story.submit({story.job()});
  const auto repriced = [](const Outbox& out) {
    return std::ranges::count_if(out.changes, [](const auto& change) {
      return model::get_change<model::InstanceChanged>(change) != nullptr;
    });
  };
  for (const auto& call : asked) {
    std::vector<model::ZonePrice> said{
        {"", model::Market::kOnDemand, {story.now.wall + -1h, {70}}}};
    PricesFetched answer{"west", call.type.name, call.number, std::move(said)};
    EXPECT_EQ(repriced(story.dispatcher.apply(std::move(answer), story.now)), 0);
  }
  EXPECT_EQ(repriced(story.dispatcher.tick(story.now)), 1);
}

TEST_F(PricesTest, NewsAreJournalledOnce) {
  say_price("small", 70, 2h);
  ASSERT_THAT(story.journalled<model::PriceRow>(), SizeIs(1));
  story.pass(11min);
  story.clear();
  say_price("small", 70, 1h);
  EXPECT_THAT(story.journalled<model::PriceRow>(), IsEmpty()) << "the same price goes on";
}

TEST_F(PricesTest, ARestartDecidesByThem) {
  model::Restored restored;
  restored.prices.push_back(
      {"west", "small", "", model::Market::kOnDemand, {story.now.wall, {900}}});
  story = Story();
  story.begin(std::move(restored));
  EXPECT_EQ(type_bought(), "large");
}

// Bug: the answer for one type ended the calls for all.
TEST_F(PricesTest, ATypeThatCannotBeToldIsAskedNoSooner) {
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kUnsupported)));
  say_price("large", 200);
  story.clear();
  story.pass(9min);
  EXPECT_THAT(story.all<PricesCall>(), IsEmpty());
  story.pass(2min);
  EXPECT_THAT(story.all<PricesCall>(), SizeIs(2));
}

// Bug: it was asked again in the interval only, 10 minutes.
TEST_F(PricesTest, ARefusedCallIsMadeAgainSoon) {
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kInvalid)));
  story.clear();
  story.pass(29s);
  EXPECT_THAT(story.all<PricesCall>(), IsEmpty());
  story.pass(32s);
  EXPECT_THAT(story.all<PricesCall>(), SizeIs(1));
}

TEST_F(PricesTest, AShutGateIsWaitedFor) {
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 30min;
  story.say_prices("large", tl::unexpected(slow));
  story.say_prices("small", tl::unexpected(slow));
  story.clear();
  story.pass(11min);
  EXPECT_THAT(story.all<PricesCall>(), IsEmpty());
  story.pass(20min);
  EXPECT_THAT(story.all<PricesCall>(), SizeIs(1)) << "the one that finds out";
  say_price("large", 70);
  story.pass(2s);
  EXPECT_THAT(story.all<PricesCall>(), SizeIs(2));
}

// Bug: the gate of a set that no pool uses any more stayed half-open, and its hosts were never
// ended.
TEST_F(PricesTest, WithoutTypesNoGateIsTried) {
  auto policy = small_site();
  policy.types.clear();
  for (auto& pool : policy.pools) pool.sets.clear();
  story.say(PolicyChanged{policy});
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 11min;
  story.say_prices("small", tl::unexpected(slow));
  story.pass(30min);
  EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono), IsEmpty());
}

TEST_F(PricesTest, WhoMayNotReadPricesMayCreate) {
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kAuth)));
  EXPECT_EQ(type_bought(), "small");
}

TEST_F(PricesTest, AnErrorLeavesThePricesAsTheyWere) {
  say_price("small", 900);
  story.pass(11min);
  story.say_prices("small", tl::unexpected(error(CloudErrorClass::kTransient)));
  EXPECT_EQ(type_bought(), "large");
}

class DoubtedPriceTest : public PricesTest {
 protected:
  std::vector<std::string> gates() {
    std::vector<std::string> out;
    for (const auto& gate : story.dispatcher.queries().gates(story.now.mono))
      if (gate.cls == CloudErrorClass::kPrice) out.push_back(gate.key);
    return out;
  }
  const std::string key = "west price op=create type=small zone= market=on_demand";
};

TEST_F(DoubtedPriceTest, IsMoreThan100TimesTheConfiguredOne) {
  say_price("small", 6000);
  EXPECT_THAT(gates(), IsEmpty());
  story.pass(11min);
  say_price("small", 6001, 1min);
  EXPECT_THAT(gates(), ElementsAre(key));
  EXPECT_EQ(type_bought(), "large");
  story.pass(100h);
  say_price("small", 60, 1min);
  EXPECT_THAT(gates(), ElementsAre(key)) << "only an admin opens it";
}

TEST_F(DoubtedPriceTest, AnAdminBelievesIt) {
  say_price("small", 6001);
  EXPECT_TRUE(story.ask(OpenGate{0, "user root", key}));
  say_price("small", 7000, 1min);
  EXPECT_THAT(gates(), IsEmpty()) << "it was believed that it is so high";
}

TEST_F(DoubtedPriceTest, IsBelievedWhereTheConfiguredPriceIsCorrected) {
  say_price("small", 6001);
  story.say(PolicyChanged{small_site()});
  EXPECT_THAT(gates(), ElementsAre(key)) << "a reload for another reason";
  auto site = small_site();
  site.types[0].price_per_hour = {100};
  story.say(PolicyChanged{site});
  EXPECT_THAT(gates(), IsEmpty());
}

// Bug: the job waited for the host until an admin opened the gate.
TEST_F(DoubtedPriceTest, GivesUpAHostWhoseCreateWaitsSoThatItsJobGoesElsewhere) {
  story.submit({story.job()});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  story.create_ended(InstanceId{1}, error(CloudErrorClass::kTransient));
  say_price("small", 6001, 1min);
  story.clear();
  story.pass(2s);
  const auto calls = story.all<CreateCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].request->type.name, "large");
  EXPECT_THAT(story.dispatcher.queries().instances(), SizeIs(1));
}

TEST_F(DoubtedPriceTest, LeavesAHostWhoseCreateMayHaveBeenExecuted) {
  story.submit({story.job()});
  story.create_ended(InstanceId{1}, error(CloudErrorClass::kTransient, /*outcome_unknown=*/true));
  say_price("small", 6001, 1min);
  story.list({});
  story.pass(30s);
  EXPECT_EQ(story.record(InstanceId{1}).state, model::InstanceState::kRequested);
}

TEST_F(DoubtedPriceTest, HasNoMeasureWhereTheConfiguredOneIs0) {
  auto site = small_site();
  site.types[0].price_per_hour = {0};
  story.say(PolicyChanged{site});
  say_price("small", 900'000'000'000);
  EXPECT_THAT(gates(), IsEmpty());
}

TEST_F(DoubtedPriceTest, OfAnInstanceCountsForCeilingsAndShutsTheGateOfItsOffering) {
  story.submit({story.job()});
  auto seen = story.seen(InstanceId{1});
  seen.price_per_hour = model::Micros{6001};
  story.say(CreateSeen{InstanceId{1}, seen});
  EXPECT_THAT(gates(), ElementsAre(key));
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).record.price_per_hour,
            model::Micros{6001});
}

}  // namespace
}  // namespace hostler::dispatch
