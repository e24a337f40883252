#include "tests/unit/dispatch/restored.h"
#include "tests/unit/dispatch/story.h"

/// Jobs that hosts cannot start.
namespace hostler::dispatch {
namespace {

// Bug: it went from host to host for ever.
TEST(StartFailuresTest, AJobThatEveryHostRefusesFailsAlsoAcrossARestart) {
  auto site = busy_site();
  site.work[0].record.state = WorkState::kStarting;
  site.work[0].shape.start_failures_max = 3;
  site.work[0].record.refused_by = {"h-1", "h-2"};
  Story again;
  again.begin(std::move(site));
  again.host({7}, model::AttemptRefused{{{5}, 1}, "no space", true});
  EXPECT_EQ(again.record(WorkId{5}).state, WorkState::kFailed);
  EXPECT_EQ(again.record(WorkId{5}).reason, EndReason::kStartFailures);
  EXPECT_THAT(again.record(WorkId{5}).reason_text, testing::HasSubstr("no space"));
}

/// The host reports it as started, and then that it could not start it.
void fail_to_start(Story& story, InstanceId on, WorkId job) {
  const model::AttemptId attempt{job, story.record(job).attempt};
  story.host(on, model::AttemptStarted{attempt, story.now.wall});
  ASSERT_EQ(story.record(job).state, WorkState::kRunning);
  story.host(on, model::AttemptRefused{attempt, "create work/1: no space", true});
}

// Bug: the host stayed idle and healthy, and the job came back to it.
TEST(StartFailuresTest, AHostThatHasLostItsFolderIsBrokenAtOnceAndDoesNotCountForTheJob) {
  Story story;
  story.begin();
  auto item = story.job(2);
  item.shape.start_failures_max = 1;
  const auto id = story.submit({item}).at(0);
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  const model::AttemptId attempt{id, story.record(id).attempt};
  story.host(on, model::AttemptStarted{attempt, story.now.wall});
  story.host(on, model::HostBroken{model::kFolderCheck, "the agent's folder is gone"});
  story.host(on, model::AttemptRefused{attempt, "no such folder", true});

  EXPECT_EQ(story.record(id).state, WorkState::kQueued);
  EXPECT_THAT(story.record(id).refused_by, testing::IsEmpty());
  EXPECT_EQ(story.record(id).starts, 0U);
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kBroken);
}

// Bug: such jobs failed, and the host got the next ones.
TEST(StartFailuresTest, AHostThatFailsAfterItReportedTheStartIsBrokenAfterThreeJobs) {
  Story story;
  story.begin();
  const auto id = story.submit({story.job(2)}).at(0);
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  for (int n = 0; n < 6 && story.state(on) != InstanceState::kTerminating; ++n) {
    if (story.record(id).state == WorkState::kStarting) fail_to_start(story, on, id);
    story.pass(40s);
  }
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_EQ(story.record(on).reason_code, model::Reason::kBroken);
  EXPECT_EQ(story.record(id).starts, story.record(id).state == WorkState::kQueued ? 0U : 1U);
}

TEST(StartFailuresTest, ARefusalIsAcknowledgedAlsoWhenItIsToldAgain) {
  Story story;
  story.plans_wait = true;
  story.begin(busy_site());
  const WorkId id{5};
  story.ready({7}, {{{id, 1}, model::AttemptPhase::kEnded}});
  story.clear();
  story.host({7}, model::AttemptRefused{{id, 1}, "no space", true});
  EXPECT_EQ(story.record(id).state, WorkState::kQueued);
  ASSERT_THAT(story.commands<model::AckAttempt>(), testing::SizeIs(1));
  const auto rows = story.journalled<model::AttemptChanged>();
  ASSERT_THAT(rows, testing::SizeIs(1));
  EXPECT_EQ(rows[0].state, AttemptState::kDone);
  EXPECT_FALSE(rows[0].end) << "it used no time of the host";

  // The acknowledgement was lost: the host lists the attempt, which is still the job's last one.
  story.clear();
  story.ready({7}, {{{id, 1}, model::AttemptPhase::kEnded}});
  EXPECT_THAT(story.ledger(), testing::Not(testing::Contains("j-5 found_again")));
  EXPECT_THAT(story.commands<model::AckAttempt>(), testing::SizeIs(1));
  story.host({7}, model::AttemptRefused{{id, 1}, "no space", true});
  EXPECT_THAT(story.commands<model::AckAttempt>(), testing::SizeIs(2));
  EXPECT_EQ(story.record(id).attempt, 2U) << "the next one is not touched";
  EXPECT_EQ(story.record(id).starts, 1U);
}

// Each start breaks the connection, and the host says afterwards that it does not know the attempt.
TEST(StartFailuresTest, AJobThatBreaksEachHostDoesNotGoToNewOnesForEver) {
  for (const model::Health health : {model::Health::kHealthy, model::Health::kBroken}) {
    auto site = busy_site();
    site.work[0].record.state = WorkState::kStarting;
    site.work[0].shape.start_failures_max = 3;
    site.work[0].record.refused_by = {"h-1", "h-2"};
    site.instances[0].record.health = health;
    Story story;
    story.plans_wait = true;
    story.begin(std::move(site));
    story.ready({7});
    EXPECT_EQ(story.record(WorkId{5}).state == WorkState::kFailed,
              health == model::Health::kBroken);
  }
}

TEST(StartFailuresTest, AnEmptyHostThatIsBrokenRaisesTheAlarmBeforeItEnds) {
  Story story;
  story.begin();
  const auto id = story.submit({story.job(2)}).at(0);
  const auto on = story.all<CreateCall>().at(0).instance;
  story.boot(on);
  story.exited(on, id);
  ASSERT_EQ(story.state(on), InstanceState::kIdle);
  story.clear();
  story.host(on, model::HostBroken{"report", "it reported a last sequence number of 2"});
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_THAT(story.ledger(), testing::IsSupersetOf({on.text() + " broken report",
                                                     on.text() + " terminating broken"}));
}

}  // namespace
}  // namespace hostler::dispatch
