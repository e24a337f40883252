#include "tests/unit/dispatch/restored.h"

/// Rows that the store has set aside: nothing is done to the instances and the work of these.
namespace hostler::dispatch {
namespace {

using model::AttemptId;
using model::AttemptPhase;
using testing::IsEmpty;
using testing::SizeIs;

/// The row of instance 7 is damaged; nothing else is there.
model::Restored damaged_site() {
  model::Restored out;
  out.last_instance = 7;
  out.damaged.push_back({"instances", "h-7", "state is 99", instance(InstanceState::kBusy).record});
  return out;
}

TEST(DamagedRowsTest, AMachineWhoseRowIsDamagedCountsForCeilings) {
  auto site = small_site();
  site.ceilings.instances_max = 1;
  Story story(site);
  story.begin(damaged_site());
  (void)story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  EXPECT_FALSE(story.dispatcher.queries().has_no_instances());

  story.say(PolicyChanged{site});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty()) << "a reload does not forget it";
  site.ceilings.instances_max = 2;
  story.say(PolicyChanged{site});
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
}

TEST(DamagedRowsTest, AMachineWhoseRowIsDamagedCountsForTheMaximumOfItsPool) {
  auto site = small_site();
  site.pools[0].sizes.max = 1;
  Story story(site);
  story.begin(damaged_site());
  (void)story.submit({story.job()});
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
  const auto why = story.dispatcher.queries().reasons_of_pool("default", story.now);
  EXPECT_THAT(why->ceiling, testing::HasSubstr("has 1 instances, max is 1"));
}

TEST(DamagedRowsTest, AnAttemptWhoseJobIsDamagedGoesOnAndKeepsItsHost) {
  auto restored = busy_site();
  restored.work.clear();
  restored.last_work = 6;
  restored.attempts.clear();
  restored.damaged.push_back({"work", "j-5", "state is 99", {}});
  Story story;
  story.begin(restored);
  story.clear();
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}, {{{6}, 1}, AttemptPhase::kEnded}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), IsEmpty());
  ASSERT_THAT(story.commands<model::AckAttempt>(), SizeIs(1))
      << "only of work that is known to end";
  EXPECT_EQ(story.commands<model::AckAttempt>()[0].attempt, (AttemptId{{6}, 1}));
  story.pass(1h);
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
}

TEST(DamagedRowsTest, AMachineWhoseRowIsDamagedIsNeitherAdoptedNorEnded) {
  Story story;
  story.begin(damaged_site());
  model::ListedInstance seen;
  seen.id = "i-7";
  seen.idempotency_key = "key-old";
  seen.set_id = "west";
  seen.owner = "us";
  seen.state = model::CloudState::kRunning;
  story.list({seen});
  EXPECT_THAT(story.dispatcher.queries().instances(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
}

// Bug: the row of a set of this name put the job of that number aside.
TEST(DamagedRowsTest, TheRowOfASetStandsForNoWork) {
  auto restored = busy_site();
  restored.work.clear();
  restored.attempts.clear();
  restored.damaged.push_back({"sets", "j-5", "account is not UTF-8 text", {}});
  Story story;
  story.begin(restored);
  story.ready({7}, {{{{5}, 1}, AttemptPhase::kRunning}});
  EXPECT_THAT(story.commands<model::KillAttempt>(), SizeIs(1)) << "no such job is known";
}

}  // namespace
}  // namespace hostler::dispatch
