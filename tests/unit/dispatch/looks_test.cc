#include "tests/unit/dispatch/story.h"

#include "core/scheduler/plan.h"

/// Questions about plans: what one would see now, also with jobs that somebody may submit.
namespace hostler::dispatch {
namespace {

using testing::HasSubstr;

class LooksTest : public testing::Test {
 protected:
  void SetUp() override { story.begin({}); }

  Result<TrialLook> ask(std::vector<model::WorkItem> jobs, const std::string& who = "user ann") {
    return story.dispatcher.queries().trial(Submit{0, who, std::move(jobs)}, story.now);
  }

  Story story;
};

TEST_F(LooksTest, TrialChangesNothing) {
  const auto before = story.dispatcher.queries().revision();
  story.clear();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ask({story.job(), story.job(2)}));

  EXPECT_EQ(story.dispatcher.queries().revision(), before);
  EXPECT_TRUE(story.changes.empty());
  EXPECT_EQ(story.submit({story.job()}), std::vector{WorkId{1}}) << "no number is given out";
}

TEST_F(LooksTest, TrialIsRefusedAsTheSubmitWouldBe) {
  const auto huge = ask({story.job(), story.job(1000)});
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message, HasSubstr("jobs[1]: no instance type"));
  EXPECT_EQ(huge.error().code, Errc::kInvalidArgument);
}

TEST_F(LooksTest, QuestionsDoNotCountForQuotas) {
  auto policy = small_site();
  policy.quotas.submit.submits_per_minute_max = 1;
  policy.quotas.submit.jobs_waiting_max = 3;
  story.say(PolicyChanged{policy});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask({story.job()}, "token ci"));
  const auto many = ask({4, story.job()}, "token ci");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Errc::kOverQuota);
}

TEST_F(LooksTest, EqualJobsAreOneClassBehindAllThatWaits) {
  story.plans_wait = true;
  story.submit({story.job(), story.job()});
  const auto trial = ask({story.job(), story.job(2), story.job()});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->jobs[0], trial->jobs[2]);
  EXPECT_NE(trial->jobs[0], trial->jobs[1]);
  const auto& classes = trial->look.snapshot->classes;
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].count, 2U) << "what waits already is another class";
  EXPECT_EQ(classes[1].count, 2U);
  EXPECT_LT(classes[0].heads[1], classes[1].heads[0]);
}

TEST_F(LooksTest, JobsBeyondTheRunningLimitAreNotInTheSnapshot) {
  auto policy = small_site();
  policy.quotas.submit.running_vcpus_max = 3;
  story.say(PolicyChanged{policy});
  const auto trial = ask({5, story.job()}, "token ci");
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->look.snapshot->classes[0].count, 3U);
  EXPECT_THAT(trial->beyond, HasSubstr("running_vcpus_max of token ci"));
}

}  // namespace
}  // namespace hostler::dispatch
