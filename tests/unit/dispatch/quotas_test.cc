#include "tests/unit/dispatch/story.h"

/// What the quotas of the site promise to submitters, and to those whom they protect.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class QuotasTest : public testing::Test {
 protected:
  void SetUp() override { begin({}); }

  void begin(model::Restored restored) {
    story.begin(std::move(restored));
    policy = small_site();
  }
  /// As a reload does.
  void limit(const std::function<void(model::Quota&)>& change) {
    change(policy.quotas.submit);
    story.say(PolicyChanged{policy});
  }
  model::WorkItem keyed(const std::string& key) const {
    model::WorkItem out = story.job();
    out.client_key = key;
    out.client_digest = "d";
    return out;
  }
  std::vector<model::WorkItem> jobs(std::size_t count, std::int32_t vcpus = 1) const {
    return {count, story.job(vcpus)};
  }
  /// "" if it was accepted.
  std::string refusal(std::vector<model::WorkItem> work, Errc code = Errc::kOverQuota,
                      const std::string& who = "token ci",
                      std::optional<std::uint64_t> output_bytes = 0) {
    const auto answer = story.ask(Submit{0, who, std::move(work), output_bytes});
    if (answer) return "";
    EXPECT_EQ(answer.error().code, code);
    return answer.error().message;
  }
  bool accepts(std::vector<model::WorkItem> work, const std::string& who = "token ci") {
    return refusal(std::move(work), Errc::kOverQuota, who).empty();
  }

  Story story;
  model::SitePolicy policy;
};

TEST_F(QuotasTest, BeyondTheJobsThatMayWaitASubmitIsRefusedWholeAndSaysWhatThereIs) {
  story.plans_wait = true;
  limit([](auto& quota) { quota.jobs_waiting_max = 10; });
  EXPECT_TRUE(accepts(jobs(8)));

  EXPECT_THAT(refusal(jobs(3)), AllOf(HasSubstr("jobs_waiting_max of token ci is 10"),
                                      HasSubstr("8 wait"), HasSubstr("3 more")));
  EXPECT_TRUE(accepts(jobs(2))) << "the refused ones do not count";
  EXPECT_FALSE(accepts(jobs(1)));
  EXPECT_TRUE(accepts(jobs(10), "token other")) << "each has its own";
}

TEST_F(QuotasTest, AReloadThatRaisesALimitLetsTheNextSubmitThrough) {
  story.plans_wait = true;
  limit([](auto& quota) { quota.jobs_waiting_max = 1; });
  EXPECT_FALSE(accepts(jobs(2)));
  limit([](auto& quota) { quota.jobs_waiting_max = 2; });
  EXPECT_TRUE(accepts(jobs(2)));
  limit([](auto& quota) { quota.jobs_waiting_max = 0; });
  EXPECT_FALSE(accepts(jobs(1)));
}

TEST_F(QuotasTest, JobsThatRunOrAreCancelledMakeRoomAndThoseQueuedAgainTakeIt) {
  limit([](auto& quota) { quota.jobs_waiting_max = 1; });
  const auto [job, host] = story.running(true);
  ASSERT_TRUE(accepts(jobs(1), "user ann")) << "the first one does not wait any more";
  ASSERT_FALSE(accepts(jobs(1), "user ann"));
  ASSERT_TRUE(story.ask(CancelWork{0, "user ann", false, WorkId{job.value + 1}}));
  story.plans_wait = true;
  story.host(host, model::HostLost{"no route"});
  story.list({});
  story.list({});
  EXPECT_EQ(story.record(job).state, WorkState::kQueued);
  EXPECT_FALSE(accepts(jobs(1), "user ann"));
}

TEST_F(QuotasTest, ShapesThatWaitAreCountedOnceHoweverManyJobsHaveThem) {
  story.plans_wait = true;
  limit([](auto& quota) { quota.shapes_waiting_max = 2; });
  EXPECT_TRUE(accepts(jobs(50, 1)));
  EXPECT_TRUE(accepts(jobs(50, 2)));
  EXPECT_TRUE(accepts(jobs(50, 1)));
  auto other = story.job(2);
  other.shape.attempts_max = 9;  // Does not matter for placing.
  EXPECT_TRUE(accepts({other}));
  EXPECT_THAT(refusal({story.job(1), story.job(3), story.job(4)}),
              AllOf(HasSubstr("shapes_waiting_max of token ci is 2"),
                    HasSubstr("work of 2 different shapes waits"), HasSubstr("2 more")));
  EXPECT_TRUE(accepts({story.job(3)}, "token other"));
}

TEST_F(QuotasTest, SubmitsOfTheLastMinuteAreCountedAndTheAnswerSaysWhenToRetry) {
  limit([](auto& quota) { quota.submits_per_minute_max = 2; });
  EXPECT_TRUE(accepts(jobs(100)));
  story.now.mono += 20s;
  EXPECT_TRUE(accepts(jobs(1)));

  const auto answer = story.ask(Submit{0, "token ci", jobs(1)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kOverQuota);
  EXPECT_EQ(answer.error().retry_after_s, 40);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("submits_per_minute_max of token ci is 2"), HasSubstr("2 submits")));
  story.now.mono += 40s;
  EXPECT_TRUE(accepts(jobs(1)));
  EXPECT_FALSE(accepts(jobs(1)));
}

TEST_F(QuotasTest, APriorityAboveTheHighestIsForbiddenAndNamesIt) {
  limit([](auto& quota) { quota.priority_max = 5; });
  auto high = story.job();
  high.shape.priority = 6;
  EXPECT_THAT(refusal({story.job(), high}, Errc::kForbidden),
              AllOf(HasSubstr("priority 6"), HasSubstr("priority_max of token ci is 5")));
  high.shape.priority = 5;
  EXPECT_TRUE(accepts({high}));
}

TEST_F(QuotasTest, BeyondTheOutputsThatAreKeptNewJobsAreRefused) {
  limit([](auto& quota) { quota.output_bytes_max = 4096; });
  EXPECT_EQ(refusal(jobs(1), Errc::kOverQuota, "token ci", 4096), "");
  EXPECT_THAT(refusal(jobs(1), Errc::kOverQuota, "token ci", 10'240),
              AllOf(HasSubstr("output_bytes_max of token ci is 4KiB"),
                    HasSubstr("10 KiB of outputs"), HasSubstr("outputs rm")));
  EXPECT_NE(refusal(jobs(1), Errc::kUnavailable, "token ci", std::nullopt), "");
  limit([](auto& quota) { quota.output_bytes_max.reset(); });
  EXPECT_EQ(refusal(jobs(1), Errc::kUnavailable, "token ci", std::nullopt), "");
}

// A client that got no answer sends the same again: it must not be refused for its own jobs.
TEST_F(QuotasTest, ARepeatedSubmitIsAnsweredAtEveryLimitAndCountsOnce) {
  story.plans_wait = true;
  limit([](auto& quota) {
    quota.jobs_waiting_max = 2;
    quota.shapes_waiting_max = 1;
    quota.submits_per_minute_max = 2;
  });
  const std::vector work{keyed("a"), keyed("b"), keyed("a")};
  EXPECT_TRUE(accepts(work)) << "the same key twice is one job";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(accepts(work));
  limit([](auto& quota) {
    quota.jobs_waiting_max = 0;
    quota.submits_per_minute_max = 0;
    quota.output_bytes_max = 0;
    quota.priority_max = -1;
  });
  EXPECT_EQ(refusal(work, Errc::kOverQuota, "token ci", 5), "");
  EXPECT_NE(refusal({keyed("a"), keyed("c")}, Errc::kForbidden), "");
}

TEST_F(QuotasTest, ARestartCountsTheJobsThatWait) {
  story.plans_wait = true;
  EXPECT_TRUE(accepts(jobs(3)));
  EXPECT_TRUE(accepts(jobs(2, 2)));
  model::Restored restored;
  for (auto& item : story.journalled<model::WorkItem>()) restored.work.push_back(item);
  restored.last_work = restored.last_arrival = restored.work.size();

  Story after;
  after.plans_wait = true;
  after.begin(std::move(restored));
  const auto view = after.dispatcher.queries().quota("token ci", after.now.mono);
  EXPECT_EQ(view.jobs_waiting, 5U);
  EXPECT_EQ(view.shapes_waiting, 2U);
}

TEST_F(QuotasTest, ThoseWithJobsALimitOrARoleAreListedWithWhatTheyHave) {
  story.plans_wait = true;
  policy.quotas.principals["user bob"].jobs_waiting_max = 3;
  policy.quotas.roles["user root"] = model::Role::kAdmin;
  limit([](auto& quota) { quota.submits_per_minute_max = 7; });
  EXPECT_TRUE(accepts(jobs(2)));

  const auto views = story.dispatcher.queries().quotas(story.now.mono);
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0].principal, "token ci");
  EXPECT_EQ(views[0].jobs_waiting, 2U);
  EXPECT_EQ(views[0].submits_last_minute, 1U);
  EXPECT_EQ(views[0].quota.submits_per_minute_max, 7);
  EXPECT_EQ(views[1].principal, "user bob");
  EXPECT_EQ(views[1].quota.jobs_waiting_max, 3);
  EXPECT_EQ(views[2].principal, "user root");
  EXPECT_EQ(views[2].role, model::Role::kAdmin);
}

}  // namespace
}  // namespace hostler::dispatch
