#include <set>

#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Pools whose hosts may be used a few times: PoolPolicy::uses_max.
namespace hostler::dispatch {
namespace {

using model::AttemptPhase;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::SitePolicy limited_to(std::int32_t uses_max) {
  auto out = small_site();
  out.pools[0].uses_max = uses_max;
  return out;
}

void expect_used_up(const Story& story, InstanceId id) {
  EXPECT_EQ(story.state(id), InstanceState::kTerminating);
  EXPECT_EQ(story.record(id).reason_code, model::Reason::kUsedUp);
}

// Kip, weakness 8: dirty reuse.
TEST(UsesOfHostsTest, NoDirtyReuseAHostOfOneUseRunsOneJobAndEnds) {
  Story story(limited_to(1));
  story.begin();
  (void)story.submit({story.job(), story.job(), story.job()});
  const auto creates = story.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(3));
  for (const auto& call : creates) story.boot(call.instance);
  const auto starts = story.commands<model::StartAttempt>();
  ASSERT_THAT(starts, SizeIs(3));
  std::set<InstanceId> used;
  for (const auto& start : starts) EXPECT_TRUE(used.insert(start.instance).second);
  (void)story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(4)) << "a host with room is of no use to it";

  story.exited(starts[0].instance, starts[0].attempt.work);
  expect_used_up(story, starts[0].instance);
}

TEST(UsesOfHostsTest, OutputIsCollectedBeforeAUsedHostEnds) {
  Story story(limited_to(1));
  story.begin();
  const auto [job, id] = story.running();
  model::AttemptEnd end;
  end.output_is_inline = false;
  end.stdout_bytes = 10'000;
  end.ended = story.now.wall;
  story.host(id, model::AttemptExited{{job, 1}, end});
  EXPECT_EQ(story.state(id), InstanceState::kBusy);
  story.host(id, model::AttemptCollected{{job, 1}, ""});
  expect_used_up(story, id);
}

TEST(UsesOfHostsTest, TheCountIsDurableWithTheStartAndGoesOnAfterARestart) {
  auto rows = busy_site();
  rows.instances[0].record.uses = 1;
  Story story(limited_to(2));
  story.begin(std::move(rows));
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  story.exited({7}, {5});
  ASSERT_EQ(story.state({7}), InstanceState::kIdle) << "one use is left";
  story.clear();
  const auto jobs = story.submit({story.job(2)});
  ASSERT_THAT(story.commands<model::StartAttempt>(), SizeIs(1));
  EXPECT_EQ(story.commands<model::StartAttempt>()[0].instance, InstanceId{7});
  EXPECT_EQ(story.record(InstanceId{7}).uses, 2U);
  story.exited({7}, jobs.at(0));
  expect_used_up(story, {7});
}

TEST(UsesOfHostsTest, AHostOfARestoredStateCountsAsUsed) {
  auto rows = waiting_site();
  rows.instances[0].record.uses = model::kUsesUnknown;
  Story story(limited_to(100));
  story.begin(std::move(rows));
  EXPECT_EQ(story.state({7}), InstanceState::kUnknown);
  story.ready({7});
  expect_used_up(story, {7});
}

TEST(UsesOfHostsTest, ALimitThatComesLaterEndsTheHostsThatHadWork) {
  Story story;
  story.begin();
  const auto [job, id] = story.running();
  story.say(PolicyChanged{limited_to(3)});
  EXPECT_EQ(story.state(id), InstanceState::kBusy) << "its job goes on";
  story.exited(id, job);
  expect_used_up(story, id);
}

TEST(UsesOfHostsTest, AUsedHostThatIsHeldEndsOnceItIsNotHeldAnyMore) {
  Story story(limited_to(1));
  story.begin();
  const auto [job, id] = story.running();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "root", id, model::IdleBehavior::kHold}));
  story.exited(id, job);
  EXPECT_EQ(story.state(id), InstanceState::kIdle);
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "root", id, model::IdleBehavior::kRun}));
  expect_used_up(story, id);
}

TEST(UsesOfHostsTest, AnAdminSeesHowOftenAHostWasUsed) {
  Story story(limited_to(1));
  story.begin();
  const auto [job, id] = story.running();
  const auto view = story.dispatcher.queries().instance(id, story.now);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->uses_max, 1);
  EXPECT_EQ(view->record.uses, 1U);
  EXPECT_THAT(view->conditions, Contains(HasSubstr("1 of 1 uses")));

  Story other;
  other.begin();
  const auto running = other.running();
  const auto without = other.dispatcher.queries().instance(running.second, other.now);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->uses_max, 0);
  EXPECT_THAT(without->conditions, IsEmpty());
}

}  // namespace
}  // namespace hostler::dispatch
