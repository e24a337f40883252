#include "tests/unit/dispatch/story.h"

/// Images that the configuration names by a query.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const model::ImageQuery kDebian{"debian-12*", "", "x86_64", {}};
const model::ImageQuery kHardened{"hardened*", "us", "", {{"release", "12"}}};

model::Image image(const std::string& id, std::int64_t created,
                   const std::string& architecture = "x86_64") {
  return {id, "name of " + id, "us", architecture, {created}};
}

/// Type small names its image by a query; large has an id.
model::SitePolicy site_with_query() {
  auto out = small_site();
  out.types[0].image = kDebian;
  out.types[1].image_id = "fixed";
  return out;
}

class ImagesTest : public testing::Test {
 protected:
  std::vector<ImagesCall> asked() const { return story.all<ImagesCall>(); }
  void answer(model::CloudResult<std::vector<model::Image>> result,
              const model::ImageQuery& query = kDebian) {
    ImagesCall call;
    for (const auto& one : asked())
      if (one.query == query) call = one;
    ASSERT_NE(call.number, 0U) << "nobody asked";
    story.say(ImagesFetched{"west", query, call.number, std::move(result)});
  }
  void fail(CloudErrorClass cls = CloudErrorClass::kTransient) {
    answer(tl::unexpected(error(cls)));
  }
  /// The image of the create that a job of this type leads to; "none".
  std::string made_of(const std::string& type = "small") {
    const auto before = story.all<CreateCall>().size();
    auto job = story.job(type == "small" ? 2 : 8);
    job.shape.constraints.types = {type};
    (void)story.submit({job});
    const auto calls = story.all<CreateCall>();
    return calls.size() == before ? "none" : calls.back().request->type.image_id;
  }
  model::SetView view() const { return story.dispatcher.queries().sets(story.now).at(0); }
  std::string condition() const {
    const auto all = view().conditions;
    return all.empty() ? "" : all.front();
  }

  Story story{site_with_query()};
};

TEST_F(ImagesTest, AnAnswerToAnotherQueryOfTheSameTextIsIgnored) {
  const model::ImageQuery one{"a", "b", "", {}}, other{"a\", owner \"b", "", "", {}};
  ASSERT_EQ(to_string(one), to_string(other));
  auto site = site_with_query();
  site.types[0].image = one;
  story.begin();
  story.say(PolicyChanged{site});
  site.types[0].image = other;
  story.say(PolicyChanged{site});
  answer(std::vector{image("a", 1)}, one);
  EXPECT_EQ(made_of(), "none");
  answer(std::vector{image("b", 1)}, other);
  EXPECT_EQ(made_of(), "b");
}

TEST_F(ImagesTest, IsAskedForWhenTheSetIsOpenAndAgainInItsTime) {
  story.restore();
  EXPECT_THAT(asked(), IsEmpty()) << "the set is not open";
  story.say(SetOpened{"west", model::SetInfo{}});
  ASSERT_THAT(asked(), SizeIs(1)) << "of type large nothing is to be found out";
  EXPECT_EQ(asked()[0].query, kDebian);
  answer(std::vector{image("a", 1)});
  story.clear();
  story.pass(4min);
  EXPECT_THAT(asked(), IsEmpty());
  story.pass(1min);
  EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(ImagesTest, TheNewestIsUsedAndOfTwoOfOneTimeThatOfTheHigherId) {
  story.begin();
  answer(std::vector{image("b", 5), image("d", 7), image("c", 7), image("z", 0), image("d", 7)});
  EXPECT_EQ(made_of(), "d");
  EXPECT_EQ(made_of("large"), "fixed");
}

TEST_F(ImagesTest, OneOfAnotherArchitectureIsNotUsedWhateverTheDriverSays) {
  story.begin();
  answer(std::vector{image("a", 1), image("arm", 9, "aarch64"), image("b", 2, "")});
  EXPECT_EQ(made_of(), "b");
}

TEST_F(ImagesTest, WithoutAnImageCreatesWaitAndSayForWhichQuery) {
  auto site = site_with_query();
  site.pools[0].types = {"small"};
  story = Story(site);
  story.begin();
  EXPECT_EQ(made_of(), "none");
  const auto reason = [&] { return story.dispatcher.queries().waiting(WorkId{1})->reason; };
  EXPECT_THAT(reason(), HasSubstr("the image is still looked up: name \"debian-12*\", "
                                  "architecture \"x86_64\" in set west"));
  answer(std::vector<model::Image>{});
  story.pass(10s);
  EXPECT_THAT(reason(), HasSubstr("the cloud has no image that matches"));
  fail(CloudErrorClass::kAuth);
  story.pass(10s);
  EXPECT_THAT(reason(), HasSubstr("the lookup failed (auth): the cloud says no"));
  EXPECT_THAT(condition(), HasSubstr("nothing is created with it"));
  story.pass(20min);
  answer(std::vector{image("a", 1)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "it waits no longer";
}

TEST_F(ImagesTest, TheLastOneStaysInUseWhileTheCloudFindsNoneAndPeopleAreTold) {
  story.begin();
  answer(std::vector{image("a", 1)});
  story.pass(5min);
  story.pass(1ms);
  answer(std::vector<model::Image>{});
  EXPECT_EQ(made_of(), "a");
  EXPECT_THAT(condition(), HasSubstr("the cloud has no image that matches; a, last found at "));
  EXPECT_THAT(condition(), HasSubstr("stays in use"));
  story.pass(10s);
  fail();
  EXPECT_THAT(condition(), HasSubstr("the lookup failed (transient)"));
  EXPECT_EQ(view().images.at(0).image.id, "a");
  story.pass(20s);
  answer(std::vector{image("a", 1)});
  EXPECT_EQ(condition(), "");
  EXPECT_THAT(story.ledger(), Contains("set west image_lost not_found").Times(1));
  EXPECT_THAT(story.ledger(), Contains("set west image_found_again a"));
}

TEST_F(ImagesTest, PausesBecomeLongerWhileItIsNotFound) {
  story.begin();
  for (const Duration pause : {Duration(10s), Duration(20s), Duration(40s)}) {
    fail();
    story.clear();
    story.pass(pause - 200ms);
    EXPECT_THAT(asked(), IsEmpty());
    story.pass(200ms);
    EXPECT_THAT(asked(), SizeIs(1));
  }
}

TEST_F(ImagesTest, ACreateIsSentAgainWithTheImageThatItWasDecidedFor) {
  story.begin();
  answer(std::vector{image("a", 1)});
  EXPECT_EQ(made_of(), "a");
  const auto call = story.all<CreateCall>().at(0);
  story.pass(5min);
  answer(std::vector{image("b", 2)});
  story.clear();
  story.create_ended(call.instance, error(CloudErrorClass::kTimeout, true));
  story.list({});
  story.list({});
  ASSERT_FALSE(story.all<CreateCall>().empty());
  EXPECT_EQ(*story.all<CreateCall>()[0].request, *call.request);
  EXPECT_EQ(made_of(), "b") << "a new one is made of the newer image";
}

TEST_F(ImagesTest, ThePoolsGoesBeforeTheTypesAndTheTypesBeforeTheSets) {
  auto site = site_with_query();
  site.types.push_back(site.types[0]);
  site.types[2].name = "plain";
  site.types[2].resources = site.types[1].resources;
  site.types[2].image.reset();
  site.pools[0].types.emplace_back("plain");
  site.sets[0].image = kHardened;
  story = Story(site);
  story.begin();
  answer(std::vector{image("of-type", 1)});
  answer(std::vector{image("of-set", 1)}, kHardened);
  EXPECT_EQ(made_of("plain"), "of-set");
  EXPECT_EQ(made_of("small"), "of-type");
  EXPECT_EQ(made_of("large"), "fixed");

  site.pools[0].image = model::ImageQuery{"pool*", "", "", {}};
  story.clear();
  story.say(PolicyChanged{site});
  ASSERT_THAT(asked(), SizeIs(1)) << "the others are of no interest now";
  answer(std::vector{image("of-pool", 1)}, *site.pools[0].image);
  for (const char* type : {"plain", "small", "large"}) EXPECT_EQ(made_of(type), "of-pool");
}

TEST_F(ImagesTest, ARestartNeedsNoAnswer) {
  story.begin();
  answer(std::vector{image("a", 1)});
  const auto rows = story.journalled<model::ImageRow>();
  ASSERT_THAT(rows, SizeIs(1));
  model::Restored restored;
  restored.images = {rows[0], {"west", "name \"of another time\"", image("x", 1), {5}}};
  story = Story(site_with_query());
  story.begin(restored);
  fail();
  EXPECT_EQ(made_of(), "a");
  EXPECT_THAT(condition(), HasSubstr("a, last found at 2023-"));
  EXPECT_THAT(story.journalled<model::ImageForgotten>(),
              ElementsAre(model::ImageForgotten{"west", "name \"of another time\""}));
}

TEST_F(ImagesTest, TheJournalIsToldOfNewsAndOncePerHour) {
  story.begin();
  answer(std::vector{image("a", 1)});
  story.clear();
  for (int n = 0; n < 11; ++n) {
    story.pass(5min);
    answer(std::vector{image("a", 1)});
  }
  EXPECT_THAT(story.journalled<model::ImageRow>(), IsEmpty());
  story.pass(5min);
  answer(std::vector{image("a", 1)});
  EXPECT_THAT(story.journalled<model::ImageRow>(), SizeIs(1));
}

TEST_F(ImagesTest, AnImageThatCannotBeUsedHoldsBackNoNewerOne) {
  story.begin();
  answer(std::vector{image("a", 1)});
  EXPECT_EQ(made_of(), "a");
  auto no = error(CloudErrorClass::kNotFound);
  no.scope = model::scope::kImage;
  story.create_ended(story.all<CreateCall>().at(0).instance, no);
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));
  EXPECT_EQ(gates[0].image, "a");
  EXPECT_EQ(made_of(), "none");
  EXPECT_EQ(made_of("large"), "fixed") << "another image";
  story.pass(5min);
  answer(std::vector{image("b", 2)});
  EXPECT_EQ(made_of(), "b");
}

TEST_F(ImagesTest, AnswersOfTheDriverBeforeAreOfNoInterest) {
  story.begin();
  story.say(SuccessorOpened{"west", model::SetInfo{}, 2});
  ASSERT_THAT(asked(), SizeIs(2));
  const auto old = asked()[0];
  story.say(ImagesFetched{"west", kDebian, old.number, std::vector{image("old", 9)}});
  EXPECT_TRUE(view().images.at(0).image.id.empty());
  answer(std::vector{image("new", 1)});
  EXPECT_EQ(made_of(), "new");
}

TEST_F(ImagesTest, AReloadAsksForANewQueryAtOnceAndForgetsTheOld) {
  story.begin();
  answer(std::vector{image("a", 1)});
  story.clear();
  auto site = site_with_query();
  site.types[0].image = kHardened;
  story.say(PolicyChanged{site});
  ASSERT_THAT(asked(), SizeIs(1));
  EXPECT_EQ(asked()[0].query, kHardened);
  EXPECT_THAT(story.journalled<model::ImageForgotten>(), SizeIs(1));
  EXPECT_EQ(made_of(), "none");
}

TEST_F(ImagesTest, AnotherAccountHasOtherImages) {
  model::Restored restored;
  restored.accounts = {{"west", "a1", ""}};
  restored.images = {{"west", model::to_string(kDebian), image("a", 1), {5}}};
  story.restore(restored);
  model::SetInfo info;
  info.account_id = "a2";
  story.say(SetOpened{"west", info});
  EXPECT_EQ(view().images.at(0).image.id, "a");
  ASSERT_TRUE(story.ask(AcceptAccount{0, "user root", "west"}));
  EXPECT_TRUE(view().images.at(0).image.id.empty());
  EXPECT_THAT(story.journalled<model::ImageForgotten>(), SizeIs(1));
  EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(ImagesTest, AShutGateIsWaitedForUntilAnAdminOpensIt) {
  story.begin();
  auto slow = error(CloudErrorClass::kRateLimit);
  slow.retry_after = 30min;
  answer(tl::unexpected(slow));
  story.clear();
  story.pass(20min);
  EXPECT_THAT(asked(), IsEmpty());
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));
  ASSERT_TRUE(story.ask(OpenGate{0, "user root", gates[0].key}));
  EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(ImagesTest, ADriverThatCannotLookForImagesShutsNoOtherCall) {
  story.begin();
  fail(CloudErrorClass::kAuth);
  EXPECT_EQ(made_of("large"), "fixed");
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("image_changed"))));
}

TEST_F(ImagesTest, AnAnswerThatNobodyAskedForIsIgnored) {
  story.begin();
  story.say(ImagesFetched{"west", kHardened, 1, std::vector{image("x", 1)}});
  story.say(ImagesFetched{"nowhere", kDebian, 1, std::vector{image("x", 1)}});
  story.say(ImagesFetched{"west", kDebian, 7, std::vector{image("x", 1)}});
  EXPECT_TRUE(view().images.at(0).image.id.empty());
}

}  // namespace
}  // namespace hostler::dispatch
