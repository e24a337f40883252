#include "tests/unit/dispatch/restored.h"

/// Things that outlived their instances.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

model::SitePolicy site_that(model::LeftoverRule rule) {
  auto out = small_site();
  out.sets[0].leftovers = rule;
  out.sets[0].leftovers_after = 5min;
  return out;
}

model::Leftover disk(const std::string& id, const std::string& instance = "i-99") {
  return {.type = "disk",
          .id = id,
          .instance_id = instance,
          .tags = {{"hostler-set", "west"}, {"hostler-owner", "us"}, {"hostler-epoch", "3"}},
          .created = {}};
}

class LeftoversTest : public testing::Test {
 protected:
  void SetUp() override { begin(model::LeftoverRule::kDestroy); }
  void begin(model::LeftoverRule rule, model::Restored restored = {}) {
    story = Story(site_that(rule));
    story.begin(std::move(restored));
    story.list({});
  }
  void answer(model::CloudResult<std::vector<model::Leftover>> result) {
    ASSERT_FALSE(story.all<LeftoversCall>().empty()) << "nobody asked";
    story.say(LeftoversListed{"west", story.all<LeftoversCall>().back().number, std::move(result)});
  }
  /// Two lists, ten minutes apart, and a list of instances.
  void see_twice(const std::vector<model::Leftover>& things,
                 const std::vector<model::ListedInstance>& instances = {}) {
    answer(things);
    story.pass(10min);
    answer(things);
    story.list(instances);
  }
  std::vector<DestroyLeftoverCall> destroys() const { return story.all<DestroyLeftoverCall>(); }
  model::LeftoversView view() const {
    return story.dispatcher.queries().sets(story.now).at(0).leftovers.value_or(
        model::LeftoversView{});
  }
  std::string condition() const {
    const auto all = story.dispatcher.queries().sets(story.now).at(0).conditions;
    return all.empty() ? "" : all.back();
  }

  Story story;
};

TEST_F(LeftoversTest, AreListedByTheTagsOfThisOwnerAndSetAndAgainInTheirTime) {
  const auto calls = story.all<LeftoversCall>();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].tag_filter, (model::Tags{{"hostler-set", "west"}, {"hostler-owner", "us"}}));
  answer(std::vector<model::Leftover>{});
  story.clear();
  story.pass(9min);
  EXPECT_THAT(story.all<LeftoversCall>(), IsEmpty());
  story.pass(1min);
  EXPECT_THAT(story.all<LeftoversCall>(), SizeIs(1));
}

TEST_F(LeftoversTest, ADiskThatTwoListsShowIsDestroyedWithItsIntentBefore) {
  see_twice({disk("d-1")});
  ASSERT_THAT(destroys(), SizeIs(1));
  const auto request = destroys()[0].request;
  EXPECT_EQ(request.type, "disk");
  EXPECT_EQ(request.id, "d-1");
  EXPECT_EQ(request.expected_set_id, "west");
  EXPECT_THAT(story.ledger(), AllOf(Contains("set west leftovers_found"),
                                    Contains("set west leftover_destroying d-1")));
}

TEST_F(LeftoversTest, OneListIsNotEnoughAndNeitherAreTwoInFiveMinutes) {
  auto site = site_that(model::LeftoverRule::kDestroy);
  site.sets[0].leftovers_interval = 1min;
  story = Story(site);
  story.begin();
  story.list({});
  for (int minute = 0; minute < 5; ++minute) {
    answer(std::vector{disk("d-1")});
    story.list({});
    EXPECT_THAT(destroys(), IsEmpty()) << "after " << minute << " minutes";
    story.pass(1min);
  }
  answer(std::vector{disk("d-1")});
  story.list({});
  EXPECT_THAT(destroys(), SizeIs(1));
}

TEST_F(LeftoversTest, AListWithoutItBeginsAnew) {
  answer(std::vector{disk("d-1")});
  story.pass(10min);
  answer(std::vector<model::Leftover>{});
  story.pass(10min);
  answer(std::vector{disk("d-1")});
  story.list({});
  EXPECT_THAT(destroys(), IsEmpty());
}

TEST_F(LeftoversTest, AListThatFailedSaysNothing) {
  answer(std::vector{disk("d-1")});
  story.pass(10min);
  answer(tl::unexpected(error(CloudErrorClass::kTransient)));
  EXPECT_THAT(condition(), HasSubstr("cannot be listed: the cloud says no"));
  EXPECT_THAT(story.ledger(), Contains("set west leftovers_unlisted transient"));
  story.pass(10min);
  answer(std::vector{disk("d-1")});
  story.list({});
  EXPECT_THAT(destroys(), SizeIs(1));
}

TEST_F(LeftoversTest, ThingsOfOthersAreLeftAlone) {
  auto owner = disk("d-1"), set = disk("d-2"), bare = disk("d-3"), later = disk("d-4"),
       odd = disk("d-5");
  owner.tags["hostler-owner"] = "them";
  set.tags["hostler-set"] = "east";
  bare.tags.clear();
  later.tags["hostler-epoch"] = "4";
  odd.tags["hostler-epoch"] = "x";
  see_twice({owner, set, bare, later, odd});
  EXPECT_THAT(destroys(), IsEmpty());
  EXPECT_EQ(view().found, 0U);
}

TEST_F(LeftoversTest, WhoseInstanceNobodyKnowsIsNotDestroyed) {
  see_twice({disk("d-1", "")});
  EXPECT_THAT(destroys(), IsEmpty());
  EXPECT_EQ(view().confirmed, 1U) << "but people see it";
}

TEST_F(LeftoversTest, AnInstanceThatIsKnownInWhateverStateKeepsItsThings) {
  const auto [job, on] = story.running();
  auto by_key = disk("d-1", "");
  by_key.tags["hostler-key"] = story.record(on).idempotency_key;
  see_twice({by_key, disk("d-2", story.record(on).provider_id)}, {story.seen(on)});
  EXPECT_THAT(destroys(), IsEmpty());
  EXPECT_EQ(view().found, 0U);
}

TEST_F(LeftoversTest, ACreateWithoutAnAnswerKeepsTheThingsOfItsKey) {
  (void)story.submit({story.job(2)});
  const auto call = story.all<CreateCall>().at(0);
  auto thing = disk("d-1", "");
  thing.tags["hostler-key"] = call.request->idempotency_key;
  see_twice({thing});
  EXPECT_THAT(destroys(), IsEmpty());
  story.create_ended(call.instance, error(CloudErrorClass::kTimeout, true));
  story.pass(10min);
  answer(std::vector{thing});
  story.list({});
  EXPECT_THAT(destroys(), IsEmpty()) << "it may still be made";
}

TEST_F(LeftoversTest, AnInstanceThatIsListedAgainKeepsItsThings) {
  answer(std::vector{disk("d-1")});
  story.pass(10min);
  answer(std::vector{disk("d-1")});
  model::ListedInstance back;
  back.id = "i-99";
  back.state = model::CloudState::kRunning;
  back.tags_unknown = true;
  story.list({back});
  EXPECT_THAT(destroys(), IsEmpty());
  story.list({});
  EXPECT_THAT(destroys(), IsEmpty()) << "it begins anew";
}

TEST_F(LeftoversTest, NothingIsDestroyedWithoutAListOfInstancesThatIsNewer) {
  answer(std::vector{disk("d-1")});
  story.pass(10min);
  answer(std::vector{disk("d-1")});
  EXPECT_THAT(destroys(), IsEmpty());
  story.say(SetListed{"west", story.now.mono - 1min, model::ListedInstances{}});
  EXPECT_THAT(destroys(), IsEmpty()) << "it was sent before";
  story.list({});
  EXPECT_THAT(destroys(), SizeIs(1));
}

TEST_F(LeftoversTest, WhatWasJustMadeIsLeftAlone) {
  auto thing = disk("d-1");
  answer(std::vector{thing});
  story.pass(10min);
  thing.created = story.now.wall + -5min;
  auto old = disk("d-2");
  answer(std::vector{thing});
  story.pass(4min);
  story.list({});
  EXPECT_THAT(destroys(), IsEmpty());
  story.pass(6min);
  answer(std::vector{thing});
  story.list({});
  EXPECT_THAT(destroys(), SizeIs(1));
}

TEST_F(LeftoversTest, AThingThatOneListShowsTwiceAndDifferentlyIsNobodys) {
  see_twice({disk("d-1", "i-98"), disk("d-1", "i-99"), disk("d-2"), disk("d-2")});
  ASSERT_THAT(destroys(), SizeIs(1));
  EXPECT_EQ(destroys()[0].request.id, "d-2");
}

TEST_F(LeftoversTest, AHugeListIsNotBelieved) {
  std::vector<model::Leftover> huge;
  for (int n = 0; n < 10'001; ++n) huge.push_back(disk("d-" + std::to_string(n)));
  see_twice(huge);
  EXPECT_THAT(destroys(), IsEmpty());
  EXPECT_THAT(condition(),
              HasSubstr("the cloud lists 10001 things: a list of more than 10000 is not believed"));
}

TEST_F(LeftoversTest, AtMostFourAreDestroyedAtATime) {
  std::vector<model::Leftover> many;
  for (int n = 0; n < 9; ++n) many.push_back(disk("d-" + std::to_string(n)));
  see_twice(many);
  EXPECT_THAT(destroys(), SizeIs(4));
  story.say(LeftoverDestroyed{"west", "disk", "d-0", {}});
  EXPECT_THAT(destroys(), SizeIs(5));
  EXPECT_EQ(destroys().back().request.id, "d-4");
}

TEST_F(LeftoversTest, ARefusedDestroyIsTriedAgainAfterLongerPausesAndTold) {
  see_twice({disk("d-1")});
  for (const Duration pause : {Duration(1min), Duration(2min), Duration(4min)}) {
    story.clear();
    story.say(LeftoverDestroyed{"west", "disk", "d-1", error(CloudErrorClass::kInvalid)});
    EXPECT_THAT(condition(), HasSubstr("disk d-1 cannot be destroyed: the cloud says no"));
    story.pass(pause - 200ms);
    EXPECT_THAT(destroys(), IsEmpty());
    story.pass(200ms);
    EXPECT_THAT(destroys(), SizeIs(1));
  }
  EXPECT_THAT(story.ledger(), Not(Contains(HasSubstr("leftover_refused")))) << "told once";
}

TEST_F(LeftoversTest, ARefusalHoldsBackNoCreate) {
  see_twice({disk("d-1")});
  story.say(LeftoverDestroyed{"west", "disk", "d-1", error(CloudErrorClass::kAuth)});
  (void)story.submit({story.job(2)});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST_F(LeftoversTest, ByDefaultTheyAreShownOnly) {
  EXPECT_EQ(model::SetPolicy().leftovers, model::LeftoverRule::kReport);
  begin(model::LeftoverRule::kReport);
  see_twice({disk("d-1")});
  EXPECT_THAT(destroys(), IsEmpty());
  EXPECT_THAT(condition(),
              AllOf(HasSubstr("1 thing outlived its instance"), HasSubstr("disk d-1")));
  EXPECT_EQ(view().things.at(0).id, "d-1");

  story.say(PolicyChanged{site_that(model::LeftoverRule::kDestroy)});
  story.list({});
  EXPECT_THAT(destroys(), SizeIs(1)) << "a reload lets them be destroyed";
}

TEST_F(LeftoversTest, SwitchedOffNobodyAsks) {
  begin(model::LeftoverRule::kOff);
  story.pass(1h);
  EXPECT_THAT(story.all<LeftoversCall>(), IsEmpty());
  story.say(PolicyChanged{site_that(model::LeftoverRule::kReport)});
  EXPECT_THAT(story.all<LeftoversCall>(), SizeIs(1));
}

// Bug: every set was asked, and each refusal was counted as a failed call.
TEST_F(LeftoversTest, ADriverThatCannotListThemIsNotAskedUntilOneIsUsedThatCan) {
  story = Story(site_that(model::LeftoverRule::kDestroy));
  story.restore();
  model::SetInfo info;
  story.say(SetOpened{"west", info});
  story.pass(1h);
  EXPECT_THAT(story.all<LeftoversCall>(), IsEmpty());
  EXPECT_FALSE(story.dispatcher.queries().sets(story.now).at(0).leftovers);
  EXPECT_THAT(condition(), HasSubstr("cannot be destroyed: the driver cannot list them"));
  info.has_leftovers = true;
  story.say(SuccessorOpened{"west", info, 2});
  EXPECT_THAT(story.all<LeftoversCall>(), SizeIs(1));
}

TEST_F(LeftoversTest, AnotherDriverMayBeOfAnotherProjectSoItsThingsAreSeenAnew) {
  answer(std::vector{disk("d-1")});
  model::SetInfo info;
  info.has_leftovers = true;
  story.pass(10min);
  story.say(SuccessorOpened{"west", info, 2});
  answer(std::vector{disk("d-1")});
  story.list({});
  EXPECT_THAT(destroys(), IsEmpty());
}

TEST_F(LeftoversTest, AnInstanceWhoseRowIsDamagedKeepsItsThings) {
  model::Restored restored;
  model::DamagedRow row{"instances", "h-7", "state is 99", model::InstanceRecord{}};
  row.instance->set = "west";
  row.instance->provider_id = "i-99";
  restored.damaged = {row};
  begin(model::LeftoverRule::kDestroy, restored);
  see_twice({disk("d-1"), disk("d-2", "i-98")});
  ASSERT_THAT(destroys(), SizeIs(1));
  EXPECT_EQ(destroys()[0].request.id, "d-2");

  row.instance->provider_id.clear();
  restored.damaged = {row};
  begin(model::LeftoverRule::kDestroy, restored);
  see_twice({disk("d-1"), disk("d-2", "i-98")});
  EXPECT_THAT(destroys(), IsEmpty()) << "nobody knows which instance the row is of";
}

TEST_F(LeftoversTest, AnswersThatNobodyAskedForAreIgnored) {
  story.say(LeftoversListed{"west", 77, std::vector{disk("d-1")}});
  story.say(LeftoversListed{"nowhere", 1, std::vector{disk("d-1")}});
  story.say(LeftoverDestroyed{"west", "disk", "d-1", {}});
  story.say(LeftoverDestroyed{"nowhere", "disk", "d-1", {}});
  EXPECT_EQ(view().found, 0U);
}

}  // namespace
}  // namespace hostler::dispatch
