#include <limits>

#include "tests/unit/dispatch/offered.h"

/// A pool that chooses types by their properties buys what its cloud offers, also when the cloud's
/// answers are false.
namespace hostler::dispatch {
namespace {

using model::CloudOffering;
using model::Micros;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_F(OfferingsTest, AsksWhenTheSetOpensAndAgainInItsTime) {
  open();
  EXPECT_THAT(story.all<OfferingsCall>(), SizeIs(1));
  offer(std::vector{offering("m5.large", 2, 60)});
  story.clear();
  story.pass(59min);
  EXPECT_THAT(story.all<OfferingsCall>(), IsEmpty());
  story.pass(2min);
  EXPECT_THAT(story.all<OfferingsCall>(), SizeIs(1));
}

TEST_F(OfferingsTest, NobodyAsksForAPoolWithAList) {
  Story listed;
  listed.begin();
  EXPECT_THAT(listed.all<OfferingsCall>(), IsEmpty());
}

TEST_F(OfferingsTest, BuysTheCheapestThatFits) {
  open();
  offer(std::vector{offering("m5.large", 2, 60), offering("m5.xlarge", 4, 110),
                    offering("t3.micro", 1, 10)});
  story.submit({story.job(2)});
  EXPECT_EQ(bought(), "m5.large");
  const auto request = *story.all<CreateCall>().back().request;
  EXPECT_EQ(request.type.name, "m5-large");
  EXPECT_EQ(request.tags.at(model::tag::kType), "m5-large");
}

TEST_F(OfferingsTest, ThePoolSaysImageAndParameters) {
  auto site = choosing_site();
  site.pools[0].image_id = "debian-12";
  site.pools[0].selector->provider_params_json = R"({"a":1})";
  story.begin();
  story.say(PolicyChanged{site});
  offer(std::vector{offering("m5.large", 2, 60)});
  story.submit({story.job()});
  const auto request = *story.all<CreateCall>().back().request;
  EXPECT_EQ(request.type.image_id, "debian-12");
  EXPECT_EQ(request.type.provider_params_json, R"({"a":1})");
}

TEST_F(OfferingsTest, WorkIsAcceptedBeforeTheTypesAreKnown) {
  open();
  const auto id = story.submit({story.job(2)}).at(0);
  EXPECT_THAT(waits(id), HasSubstr("not known yet is what is offered by west"));
  offer(std::vector{offering("m5.large", 2, 60)});
  EXPECT_EQ(bought(), "m5.large");
  Submit large{0, "user ann", {story.job(100)}};
  EXPECT_FALSE(story.ask(std::move(large))) << "now it is known that none fits";
}

TEST_F(OfferingsTest, WhatTheCloudHasNoneOfIsNotBought) {
  open();
  auto gone = offering("m5.large", 2, 60);
  gone.available = model::Availability::kNo;
  offer(std::vector{gone});
  const auto id = story.submit({story.job(2)}).at(0);
  EXPECT_EQ(bought(), "none");
  EXPECT_THAT(waits(id), HasSubstr("says that it has none now"));
  offer(std::vector{offering("m5.large", 2, 60)});
  EXPECT_EQ(bought(), "m5.large");
}

// Bug: work waited for it, as all others cost more than twice as much.
TEST_F(OfferingsTest, NoPriceIsComparedToThatOfATypeThatTheCloudHasNoneOf) {
  open();
  auto gone = offering("cheap", 2, 1);
  gone.available = model::Availability::kNo;
  offer(std::vector{gone, offering("m5.large", 2, 60)});
  story.submit({story.job(2)});
  EXPECT_EQ(bought(), "m5.large");
}

TEST_F(OfferingsTest, ATypeLeavesWhenTwoGoodAnswersOmitIt) {
  open();
  offer(std::vector{offering("a", 2, 60), offering("b", 4, 110)});
  story.clear();
  offer(std::vector{offering("b", 4, 110)});
  EXPECT_THAT(types(), UnorderedElementsAre("a", "b"));
  story.pass(61s);
  EXPECT_THAT(story.all<OfferingsCall>(), SizeIs(1)) << "asked again soon";
  offer(std::vector{offering("b", 4, 110)});
  EXPECT_THAT(types(), ElementsAre("b"));
  ASSERT_THAT(story.journalled<model::OfferedGone>(), SizeIs(1));
  EXPECT_EQ(story.journalled<model::OfferedGone>()[0].provider_type, "a");
  EXPECT_THAT(story.ledger(), testing::Contains("set west offerings_changed"));
}

TEST_F(OfferingsTest, WhatIsOfferedAgainStays) {
  open();
  const std::vector<CloudOffering> all{offering("a", 2, 60), offering("b", 4, 110)};
  offer(all);
  for (int n = 0; n < 5; ++n) {
    offer(std::vector{all[0]});
    offer(std::vector{all[1]});
    offer(all);
  }
  EXPECT_THAT(types(), UnorderedElementsAre("a", "b"));
}

TEST_F(OfferingsTest, EmptyAnswersAndErrorsChangeNothing) {
  open();
  offer(std::vector{offering("a", 2, 60)});
  story.clear();
  for (int n = 0; n < 5; ++n) {
    offer(std::vector<CloudOffering>{});
    fail(CloudErrorClass::kTransient);
  }
  EXPECT_THAT(types(), ElementsAre("a"));
  EXPECT_THAT(story.ledger(), ElementsAre("set west offerings_failed misbehaving")) << "told once";
  EXPECT_THAT(set().conditions, testing::Contains(HasSubstr("the types that it offered before")));
  offer(std::vector{offering("a", 2, 60)});
  EXPECT_THAT(set().conditions, IsEmpty());
}

TEST_F(OfferingsTest, FailuresAreAskedAgainLessAndLessOften) {
  open();
  int asked = 0;
  for (int n = 0; n < 60; ++n) {
    if (!story.all<OfferingsCall>().empty()) {
      ++asked;
      fail(CloudErrorClass::kTransient);
    }
    story.pass(1min);
  }
  EXPECT_GT(asked, 3);
  EXPECT_LT(asked, 12);
}

TEST_F(OfferingsTest, ACloudThatSaysWhenIsNotAskedBefore) {
  open();
  auto busy = error(CloudErrorClass::kTransient);
  busy.retry_after = 9min;
  const auto number = story.all<OfferingsCall>().at(0).number;
  story.clear();
  story.say(OfferingsFetched{"west", number, tl::unexpected(busy)});
  for (int n = 0; n < 53; ++n) story.pass(10s);
  EXPECT_THAT(story.all<OfferingsCall>(), IsEmpty());
  story.pass(10s);
  EXPECT_THAT(story.all<OfferingsCall>(), SizeIs(1));
}

TEST_F(OfferingsTest, ADriverWithoutTheExtensionIsNamed) {
  open();
  fail(CloudErrorClass::kUnsupported);
  EXPECT_THAT(set().conditions,
              testing::Contains(HasSubstr("pools that choose types find none there")));
}

TEST_F(OfferingsTest, FalseOfferingsAreIgnored) {
  open();
  auto huge = offering("huge", 2, 60);
  huge.resources.ram = std::numeric_limits<std::int64_t>::max();
  auto negative = offering("negative", -2, 60);
  offer(std::vector{offering("good", 2, 60), offering("good", 2, 999),
                    offering("odd\n\x1b[31m", 2, 60), offering("\xff\xfe", 2, 60),
                    offering("", 2, 60), huge, negative,
                    offering("absurd", 2, std::numeric_limits<std::int64_t>::max()),
                    offering(std::string(5000, 'x'), 2, 60)});
  EXPECT_THAT(types(), ElementsAre("good"));
  EXPECT_EQ(story.dispatcher.queries().policy().types[0].price_per_hour, Micros{60});
  EXPECT_THAT(set().offerings->ignored, HasSubstr("no name that can be shown"));
}

TEST_F(OfferingsTest, FalseGroupsOfGpusAreIgnored) {
  open();
  auto good = offering("good", 2, 60), more = offering("more", 2, 60), odd = offering("odd", 2, 60),
       many = offering("many", 2, 60);
  for (auto* one : {&good, &more, &odd, &many}) {
    one->resources.gpus = 2;
    one->gpu_groups = {{"a100", kGiB, 2}};
  }
  more.gpu_groups[0].count = 3;
  odd.gpu_groups[0].kind = "A100,\n";
  many.gpu_groups.assign(1000, {"a100", kGiB, 1});
  offer(std::vector{good, more, odd, many});
  EXPECT_THAT(types(), ElementsAre("good"));
  EXPECT_THAT(set().offerings->ignored,
              HasSubstr("3 ignored: its groups of gpus are not those of its gpus"));
}

TEST_F(OfferingsTest, AJobThatNothingCanRunIsToldWhichGpusAreMissing) {
  auto site = choosing_site();
  site.pools[0].selector->gpus.kind = "h100";
  open();
  const auto id = story.submit({story.job()}).at(0);
  story.say(PolicyChanged{site});
  auto one = offering("p4d", 2, 60);
  one.resources.gpus = 8;
  one.gpu_groups = {{"a100", 40 * kGiB, 8}};
  offer(std::vector{one});
  EXPECT_THAT(waits(id), HasSubstr("not chosen: 1 by `gpus.kind`"));
}

TEST_F(OfferingsTest, NoAnswerIsTooLarge) {
  open();
  std::vector<CloudOffering> all;
  for (int i = 0; i < 5000; ++i) all.push_back(offering("t" + std::to_string(i), 2, 60 + i));
  offer(all);
  EXPECT_EQ(set().offerings->types, 2000U);
  EXPECT_EQ(types().size(), 1000U);
  all.assign(3000, offering("a", 2, 60));
  for (std::size_t i = 0; i < 3000; ++i) all[i].zone = "z" + std::to_string(i);
  offer(all);
  EXPECT_LE(set().offerings->types, 2001U);
}

TEST_F(OfferingsTest, APriceThatIsNotSaidAgainStays) {
  open();
  offer(std::vector{offering("a", 2, 60)});
  offer(std::vector{offering("a", 2, -1)});
  EXPECT_EQ(story.dispatcher.queries().policy().types.at(0).price_per_hour, Micros{60});
}

TEST_F(OfferingsTest, ANewPriceDecidesTheNextCreate) {
  open();
  offer(std::vector{offering("a", 2, 60), offering("b", 2, 70)});
  offer(std::vector{offering("a", 2, 80), offering("b", 2, 70)});
  story.submit({story.job(2)});
  EXPECT_EQ(bought(), "b");
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).record.price_per_hour, Micros{70});
}

TEST_F(OfferingsTest, ARestartKnowsTheTypesBeforeTheCloudAnswers) {
  story.restore(restored_with_a_host());
  EXPECT_THAT(types(), ElementsAre("m5-large"));
  EXPECT_EQ(story.dispatcher.queries().instances().at(0).total.vcpus, 2);
}

TEST_F(OfferingsTest, AHostWhoseTypeLeftGetsNoMoreJobs) {
  open();
  offer(std::vector{offering("a", 2, 60)});
  const auto [job, host] = story.running();
  offer(std::vector{offering("b", 2, 90)});
  offer(std::vector{offering("b", 2, 90)});
  EXPECT_EQ(story.record(job).state, WorkState::kRunning);
  story.clear();
  story.submit({story.job(1)});
  EXPECT_EQ(bought(), "b");
  EXPECT_NE(story.state(host), InstanceState::kTerminating);
}

TEST_F(OfferingsTest, AReloadChoosesAnew) {
  open();
  offer(std::vector{offering("a", 2, 60), offering("b", 8, 200)});
  auto site = choosing_site();
  site.pools[0].selector->vcpus = {4, 64};
  story.say(PolicyChanged{site});
  EXPECT_THAT(types(), ElementsAre("b"));
  const auto pools = story.dispatcher.queries().pools();
  ASSERT_TRUE(pools.at(0).selection);
  EXPECT_EQ(pools[0].selection->selected, 1U);
  EXPECT_THAT(pools[0].selection->text, HasSubstr("choose 1 of 2"));
  EXPECT_THAT(pools[0].selection->text, HasSubstr("1 by `vcpus`"));
}

TEST_F(OfferingsTest, AJobThatNothingCanRunIsToldWhatExcludedTheTypes) {
  auto site = choosing_site();
  site.pools[0].selector->names = {"c*"};
  open();
  const auto id = story.submit({story.job()}).at(0);
  story.say(PolicyChanged{site});
  offer(std::vector{offering("m5.large", 2, 60)});
  EXPECT_THAT(waits(id), HasSubstr("choose 0 of 1 that its sets offer; not chosen: 1 by `names`"));
}

TEST_F(OfferingsTest, AnswersOfAClosedSetAreNotUsed) {
  open();
  model::SetInfo other;
  model::Restored restored;
  restored.accounts = {{"west", "a1", ""}};
  story = Story(choosing_site());
  open(restored);
  other.account_id = "a2";
  story.say(SetOpened{"west", other});
  offer(std::vector{offering("a", 2, 60)});
  EXPECT_THAT(types(), IsEmpty());
}

TEST_F(OfferingsTest, TheAnswerOfAnEarlierDriverIsNotUsed) {
  open();
  const auto old = story.all<OfferingsCall>().at(0);
  story.clear();
  story.say(SuccessorOpened{"west", model::SetInfo{}, 2});
  story.say(OfferingsFetched{"west", old.number, std::vector{offering("old", 2, 60)}});
  EXPECT_THAT(types(), IsEmpty());
  ASSERT_THAT(story.all<OfferingsCall>(), SizeIs(1)) << "the new one is asked";
  offer(std::vector{offering("new", 2, 60)});
  EXPECT_THAT(types(), ElementsAre("new"));
}

TEST_F(OfferingsTest, AGateHoldsTheQuestionBack) {
  open();
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 10min;
  offer(tl::unexpected(slow));
  story.clear();
  story.pass(9min);
  EXPECT_THAT(story.all<OfferingsCall>(), IsEmpty());
  story.pass(2min);
  EXPECT_THAT(story.all<OfferingsCall>(), SizeIs(1));
}

TEST_F(OfferingsTest, TypesAreShownWithTheirZonesAndPools) {
  open();
  auto none = offering("a", 2, 70, "z2");
  none.available = model::Availability::kNo;
  offer(std::vector{offering("a", 2, 60, "z1"), none});
  const auto shown = story.dispatcher.queries().types();
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_EQ(shown[0].set, "west");
  EXPECT_THAT(shown[0].pools, ElementsAre("default"));
  ASSERT_THAT(shown[0].zones, SizeIs(2));
  EXPECT_FALSE(shown[0].zones[0].unavailable);
  EXPECT_TRUE(shown[0].zones[1].unavailable);
}

}  // namespace
}  // namespace hostler::dispatch
