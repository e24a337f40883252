#include "core/dispatch/state/jobs.h"

#include <gmock/gmock.h>

namespace hostler::dispatch {
namespace {

using model::WorkId;
using testing::ElementsAre;

struct JobListTest : testing::Test {
  WorkId add(const std::string& principal = "user ann", const std::string& key = "") {
    model::WorkItem item;
    item.shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0};
    item.principal = principal;
    item.client_key = key;
    return jobs.add(item, {});
  }
  WaitingWork waiting;
  Principals principals{waiting};
  Jobs jobs{principals, waiting};
};

TEST_F(JobListTest, EachJobIsCountedInOneState) {
  const WorkId first = add();
  add();
  EXPECT_THAT(jobs.counts(), ElementsAre(2, 0, 0, 0, 0));

  work::Job& job = jobs.pop(0);
  EXPECT_EQ(job.id, first);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  EXPECT_THAT(jobs.counts(), ElementsAre(1, 1, 0, 0, 0));
  (void)jobs.settle(job, work::started(job, {}, {}).next, {});
  EXPECT_THAT(jobs.counts(), ElementsAre(1, 0, 1, 0, 0));
  model::AttemptEnd end;
  (void)jobs.settle(job, work::exited(job, end, {}).next, {});
  EXPECT_THAT(jobs.counts(), ElementsAre(1, 0, 0, 0, 0));
  EXPECT_EQ(jobs.find(first), nullptr) << "it has ended";
}

TEST_F(JobListTest, AJobThatIsQueuedAgainGoesBeforeLaterOnes) {
  const WorkId first = add();
  const WorkId second = add();
  work::Job& job = jobs.pop(0);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  EXPECT_TRUE(jobs.settle(job, work::never_started(job, "refused", {}).next, {}));
  EXPECT_EQ(jobs.pop(0).id, first);
  EXPECT_EQ(jobs.pop(0).id, second);
}

TEST_F(JobListTest, AWaitingJobThatIsCancelledLeavesTheQueue) {
  const WorkId id = add();
  work::Job& job = *jobs.find(id);
  EXPECT_TRUE(jobs.settle(job, work::cancel(job, "ann", {}).next, {}));
  EXPECT_EQ(waiting.queue().size(), 0U);
  EXPECT_TRUE(jobs.empty());
  EXPECT_THAT(jobs.counts(), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(JobListTest, AClassOfJobsThatHaveAllEndedIsUnused) {
  const WorkId first = add();
  add();
  (void)jobs.settle(*jobs.find(first), work::cancel(*jobs.find(first), "ann", {}).next, {});
  EXPECT_EQ(waiting.queue().at(0).users, 1U);
  work::Job& job = jobs.pop(0);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  EXPECT_EQ(waiting.queue().at(0).users, 1U) << "one of its jobs is on a host";
  (void)jobs.settle(job, work::started(job, {}, {}).next, {});
  (void)jobs.settle(job, work::exited(job, {}, {}).next, {});
  EXPECT_EQ(waiting.queue().at(0).users, 0U);
}

TEST_F(JobListTest, OnlyTheCurrentAttemptFindsItsJob) {
  const WorkId id = add();
  work::Job& job = jobs.pop(0);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  EXPECT_EQ(jobs.find(model::AttemptId{id, 1}), &job);
  EXPECT_EQ(jobs.find(model::AttemptId{id, 2}), nullptr);
  EXPECT_THAT(jobs.placed(), ElementsAre(id));
}

TEST_F(JobListTest, ANumberThatWasGivenOutIsNotGivenAgainAfterARestart) {
  waiting.restore_last_number(41);
  waiting.restore_last_arrival(90);
  model::WorkItem known;
  known.record.id = {40};
  known.arrival = 80;
  known.principal = "user bob";
  jobs.restore(known, {});
  EXPECT_EQ(add(), WorkId{42});
  EXPECT_EQ(principals.name(jobs.find(WorkId{40})->principal), "user bob");
  EXPECT_EQ(jobs.pop(0).id, WorkId{40}) << "its arrival is older";
}

TEST_F(JobListTest, AClientKeyNamesTheJobOfItsPrincipal) {
  const WorkId id = add("user ann", "nightly");
  EXPECT_EQ(principals.client_keys().find("user ann", "nightly")->work, id);
  EXPECT_EQ(principals.client_keys().find("user bob", "nightly"), nullptr);
}

TEST_F(JobListTest, WorkThatWaitsMayRunMoreOnceItsPrincipalHoldsLess) {
  model::Quotas quotas;
  quotas.principals["user ann"].running_vcpus_max = 1;
  principals.set_quotas(quotas);
  add();
  add();
  work::Job& job = jobs.pop(0);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  jobs.hold(job, {5}, {});
  EXPECT_FALSE(waiting.queue().has_next(0)) << "the first job takes all that she may hold";
  EXPECT_EQ(principals.held_by("user ann").price_per_hour, model::Micros{5});
  EXPECT_TRUE(jobs.settle(job, work::refused(job, "no room", {}).next, {}));
  EXPECT_TRUE(waiting.queue().has_next(0));
  EXPECT_EQ(principals.held_by("user ann").attempts, 0U);
}

TEST_F(JobListTest, OfTwoPrincipalsTheOneThatHoldsLessIsNext) {
  add("user ann");
  const WorkId second = add("user ann");
  work::Job& job = jobs.pop(0);
  (void)jobs.settle(job, work::placed(job, {1}, {}).next, {});
  jobs.hold(job, {5}, {});
  const WorkId bobs = add("user bob");
  EXPECT_EQ(jobs.pop(0).id, bobs);
  EXPECT_EQ(jobs.pop(0).id, second);
}

}  // namespace
}  // namespace hostler::dispatch
