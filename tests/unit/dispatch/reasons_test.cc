#include "tests/unit/dispatch/story.h"

/// Why a pool and a gate are as they are.
namespace hostler::dispatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ReasonsTest, APoolTellsWhatWaitsForItAndWhatItDecidedLast) {
  auto site = small_site();
  site.pools[0].sizes.max = 1;
  Story story(site);
  story.begin();
  (void)story.submit({story.job(2), story.job(2), story.job(2)});

  const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);

  ASSERT_TRUE(why);
  EXPECT_THAT(why->ceiling, HasSubstr("max is 1"));
  ASSERT_THAT(why->demand, SizeIs(1));
  EXPECT_EQ(why->demand[0].jobs, 3U);
  EXPECT_EQ(why->demand[0].needs.vcpus, 2);
  EXPECT_NE(why->demand[0].waiting.reason, "");
  ASSERT_THAT(why->decisions, SizeIs(1));
  EXPECT_EQ(why->decisions[0].event, model::Event::kCreateIntended);
  EXPECT_EQ(why->decisions[0].subject, "h-1");
  EXPECT_FALSE(story.dispatcher.queries().reasons_of_pool("none", story.now));
}

TEST(ReasonsTest, APoolTellsOfWorkThatItMayServeOnly) {
  auto site = small_site();
  site.pools.push_back(site.pools[0]);
  site.pools[0].types = {"small"};
  site.pools[1].name = "large";
  site.pools[1].types = {"large"};
  Story story(site);
  story.begin();
  (void)story.submit({story.job(8)});

  EXPECT_THAT(story.dispatcher.queries().reasons_of_pool("default", story.now)->demand, IsEmpty());
  const auto large = story.dispatcher.queries().reasons_of_pool("large", story.now);
  EXPECT_THAT(large->demand, SizeIs(1));
  EXPECT_EQ(large->ceiling, "") << "there is room for more";
}

/// Jobs of so many shapes, each of a priority of its own.
std::vector<model::WorkItem> jobs_of_shapes(const Story& story, std::size_t shapes) {
  std::vector<model::WorkItem> out(shapes, story.job(1));
  for (std::size_t i = 0; i < shapes; ++i) out[i].shape.priority = -static_cast<std::int32_t>(i);
  return out;
}

// Bug: an answer looked at all shapes, and at all of them again for each one that it shows. With
// 100,000 shapes the loop served nobody else for seconds.
TEST(ReasonsTest, APoolLooksAtTheFirstThousandShapesAndCountsTheOthers) {
  auto site = small_site();
  site.pools.push_back(site.pools[0]);
  site.pools[0].types = {"small"};
  site.pools[1].name = "large";
  Story story(site);
  story.begin();
  story.plans_wait = true;
  auto jobs = jobs_of_shapes(story, 1200);
  for (std::size_t i = 3; i < 1050; ++i) jobs[i].shape.needs.vcpus = 8;
  (void)story.submit(jobs);

  const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);

  EXPECT_THAT(why->demand, SizeIs(3)) << "150 more that it may serve come after the thousand";
  EXPECT_EQ(why->demand[2].waiting.ahead, 2U);
  EXPECT_EQ(why->shapes_not_examined, 200U);
}

// Bug: as above.
TEST(ReasonsTest, AGateLooksAtTheFirstThousandShapesAndCountsTheOthers) {
  Story story;
  story.begin();
  (void)story.submit(jobs_of_shapes(story, 1));
  story.create_ended(story.all<CreateCall>().at(0).instance, error(CloudErrorClass::kCapacity));
  (void)story.submit(jobs_of_shapes(story, 1200));
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));

  const auto why = story.dispatcher.queries().reasons_of_gate(gates[0].key, story.now.mono);

  EXPECT_EQ(why->shapes_not_examined, 200U);
}

// Bug: the ceiling of the set with the cheapest offering was told, though another set had room.
TEST(ReasonsTest, APoolIsNotAtACeilingWhileOneSetHasRoom) {
  auto site = small_site();
  site.sets[0].ceilings.instances_max = 1;
  site.sets.emplace_back().name = "west wing";
  site.pools[0].sets = {"west", "west wing"};
  Story story(site);
  story.begin();
  (void)story.submit({story.job(2)});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.dispatcher.queries().reasons_of_pool("default", story.now)->ceiling, "");

  site.sets[1].ceilings.instances_max = 1;
  site.sets[1].ceilings.price_per_hour_max = {1};
  story.say(PolicyChanged{site});
  EXPECT_THAT(story.dispatcher.queries().reasons_of_pool("default", story.now)->ceiling,
              HasSubstr("set west is at its ceiling"));
}

// Bug: "has 7 instances, max is 6" was told of a pool that had six and one that was leaving.
TEST(ReasonsTest, WhatLeavesAPoolDoesNotCountForItsMaximum) {
  auto site = small_site();
  site.pools[0].sizes.max = 1;
  Story story(site);
  story.begin();
  const auto [id, on] = story.running();
  story.exited(on, id);
  EXPECT_THAT(story.dispatcher.queries().reasons_of_pool("default", story.now)->ceiling,
              HasSubstr("has 1 instances, max is 1"));
  (void)story.ask(SetIdleBehavior{0, "user root", on, model::IdleBehavior::kDrain});
  ASSERT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.dispatcher.queries().reasons_of_pool("default", story.now)->ceiling, "");
}

// Seen: jobs could not enter the state folder of any host, and were said to wait for a ceiling.
TEST(ReasonsTest, AJobThatHostsCannotStartSaysSoFirst) {
  auto site = small_site();
  site.pools[0].sizes.max = 1;
  Story story(site);
  story.begin();
  const auto id = story.submit({story.job(2)}).at(0);
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  story.plans_wait = true;
  story.host(on, model::AttemptRefused{{id, 1}, "enter the working folder: denied", true});
  ASSERT_EQ(story.record(id).state, model::WorkState::kQueued);
  const auto waiting = story.dispatcher.queries().waiting(id);
  ASSERT_TRUE(waiting);
  EXPECT_THAT(waiting->reason,
              testing::StartsWith("it never started: enter the working folder: denied; now: "));
}

TEST(ReasonsTest, AGateTellsWhatItHoldsBack) {
  Story story;
  story.begin();
  const auto id = story.submit({story.job(2)}).at(0);
  story.create_ended(story.all<CreateCall>().at(0).instance, error(CloudErrorClass::kCapacity));
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, SizeIs(1));

  const auto why = story.dispatcher.queries().reasons_of_gate(gates[0].key, story.now.mono);

  ASSERT_TRUE(why);
  ASSERT_THAT(why->rejected, SizeIs(1)) << "the other type is free";
  EXPECT_EQ(why->rejected[0].type, "small");
  EXPECT_EQ(why->rejected[0].pool, "default");
  ASSERT_THAT(why->demand, SizeIs(1));
  EXPECT_EQ(why->demand[0].jobs, 1U);
  EXPECT_EQ(why->demand[0].waiting.reason, story.dispatcher.queries().waiting(id)->reason);
  EXPECT_FALSE(story.dispatcher.queries().reasons_of_gate("west quota op=create", story.now.mono));
}

// Bug: a gate whose time was over counted as shut until somebody tried it.
TEST(ReasonsTest, AGateIsShutForItsTimeOnly) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2)});
  story.create_ended(story.all<CreateCall>().at(0).instance, error(CloudErrorClass::kCapacity));
  const auto shut = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(shut, SizeIs(1));
  EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono + 24h), SizeIs(0));
  EXPECT_FALSE(story.dispatcher.queries().reasons_of_gate(shut[0].key, story.now.mono + 24h));
}

TEST(ReasonsTest, APoolTellsOfTheCandidatesThatItsLastPlanRejected) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2)});
  story.create_ended(story.all<CreateCall>().at(0).instance, error(CloudErrorClass::kCapacity));
  std::vector<std::string> types;
  const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);
  for (const auto& one : why->rejected) {
    types.push_back(one.type);
    EXPECT_NE(one.reason, "");
  }
  EXPECT_THAT(types, ElementsAre("small", "large"));
}

}  // namespace
}  // namespace hostler::dispatch
