#include "tests/unit/dispatch/story.h"

/// What submitters are promised.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SubmitTest : public testing::Test {
 protected:
  void SetUp() override { story.begin(); }

  model::WorkItem keyed(const std::string& key, const std::string& digest) const {
    model::WorkItem out = story.job();
    out.client_key = key;
    out.client_digest = digest;
    return out;
  }
  Result<std::vector<WorkId>> submit(std::vector<model::WorkItem> jobs,
                                     const std::string& who = "user ann") {
    return story.ask(Submit{0, who, std::move(jobs)});
  }
  std::string refusal(std::vector<model::WorkItem> jobs, Errc code) {
    const auto answer = submit(std::move(jobs));
    if (answer) return "accepted";
    EXPECT_EQ(answer.error().code, code);
    return answer.error().message;
  }

  Story story;
};

TEST_F(SubmitTest, TheAnswerComesWithTheRowsItStandsFor) {
  const Outbox out =
      story.dispatcher.apply(Submit{7, "user ann", {story.job(), story.job()}}, story.now);

  // The reply is an effect: it leaves once these rows are durable.
  ASSERT_THAT(out.effects, SizeIs(1));
  EXPECT_EQ(std::get<Reply>(out.effects[0]).ticket, 7U);
  EXPECT_THAT(*std::get<Reply>(out.effects[0]).result, ElementsAre(WorkId{1}, WorkId{2}));
  std::vector<WorkId> rows;
  for (const auto& change : out.changes)
    if (const auto* row = std::get_if<model::WorkItem>(&change)) rows.push_back(row->record.id);
  EXPECT_THAT(rows, ElementsAre(WorkId{1}, WorkId{2}));
}

TEST_F(SubmitTest, NamesTheNearestTypesOfWhatCanNeverRun) {
  const auto said = refusal({story.job(64)}, Errc::kInvalidArgument);
  EXPECT_THAT(said, AllOf(HasSubstr("no instance type of this site can ever run it"),
                          HasSubstr("large: 8 of 64 vcpus")));
}

TEST_F(SubmitTest, NamesATypeThatThereIsNot) {
  auto wrong = story.job();
  wrong.shape.constraints.types = {"large", "huge"};
  EXPECT_THAT(refusal({wrong}, Errc::kInvalidArgument),
              AllOf(HasSubstr("no instance type 'huge'"), HasSubstr("small, large")));
}

TEST_F(SubmitTest, OneBadJobRefusesAllAndIsNamed) {
  EXPECT_THAT(refusal({story.job(), story.job(64)}, Errc::kInvalidArgument), HasSubstr("jobs[1]"));
  EXPECT_THAT(story.journalled<model::WorkItem>(), IsEmpty());
  EXPECT_TRUE(story.dispatcher.queries().at_rest());
}

TEST_F(SubmitTest, TheSameKeyAndBodyMakesNoSecondJob) {
  const auto first = *submit({keyed("k", "one")});
  story.clear();
  EXPECT_EQ(*submit({keyed("k", "one")}), first);
  EXPECT_THAT(story.journalled<model::WorkItem>(), IsEmpty());
  EXPECT_THAT(*submit({keyed("l", "x"), keyed("l", "x")}), ElementsAre(WorkId{2}, WorkId{2}));
}

TEST_F(SubmitTest, TheSameKeyWithAnotherBodyIsAConflictThatNamesTheJob) {
  (void)submit({keyed("k", "one")});
  EXPECT_THAT(refusal({keyed("k", "two")}, Errc::kConflict),
              AllOf(HasSubstr("'k'"), HasSubstr("j-1"), HasSubstr("another body")));
  EXPECT_THAT(refusal({keyed("m", "one"), keyed("m", "two")}, Errc::kConflict),
              AllOf(HasSubstr("jobs[1]"), HasSubstr("'m'")));
}

TEST_F(SubmitTest, AKeyIsItsSubmittersOwn) {
  const auto ann = *submit({keyed("k", "one")}, "user ann");
  const auto bob = submit({keyed("k", "two")}, "user bob");
  ASSERT_TRUE(bob);
  EXPECT_NE(ann, *bob);
}

TEST_F(SubmitTest, AKeyOutlivesItsJobAndTheDaemon) {
  Story again;
  model::Restored restored;
  restored.last_work = 5;
  restored.client_keys = {{"user ann", "k", "one", {4}}};
  again.begin(std::move(restored));
  EXPECT_THAT(again.submit({keyed("k", "one")}), ElementsAre(WorkId{4}));
  EXPECT_THAT(again.submit({story.job()}), ElementsAre(WorkId{6}));
}

TEST_F(SubmitTest, AWaitingJobSaysWhyAndHowManyGoFirst) {
  story.plans_wait = true;
  (void)submit({story.job(), story.job(), story.job()});
  EXPECT_EQ(story.dispatcher.queries().waiting(WorkId{1})->code, model::WaitingCode::kPlanning);
  story.say(*story.plan);
  EXPECT_EQ(story.dispatcher.queries().waiting(WorkId{3})->ahead, 2U);
  EXPECT_NE(story.dispatcher.queries().waiting(WorkId{3})->reason, "");
  EXPECT_FALSE(story.dispatcher.queries().waiting(WorkId{9}));
}

// Bug: "2 jobs go first" counted jobs that were cancelled, and some that came later.
TEST_F(SubmitTest, OnlyWhatWaitsGoesFirst) {
  story.plans_wait = true;
  const auto ids = *submit({story.job(1), story.job(1), story.job(1), story.job(2), story.job(1)});
  story.say(*story.plan);
  EXPECT_EQ(story.dispatcher.queries().waiting(ids[3])->ahead, 3U);
  EXPECT_EQ(story.dispatcher.queries().waiting(ids[4])->ahead, 4U);
  (void)story.ask(CancelWork{0, "user ann", false, ids[1]});
  EXPECT_EQ(story.dispatcher.queries().waiting(ids[2])->ahead, 1U);
  EXPECT_EQ(story.dispatcher.queries().waiting(ids[3])->ahead, 2U);
}

TEST_F(SubmitTest, CancelIsForItsSubmitterAndAdmins) {
  const auto ids = *submit({story.job(), story.job()});
  const auto foreign = story.ask(CancelWork{0, "user bob", false, ids[0]});
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, Errc::kForbidden);

  EXPECT_TRUE(story.ask(CancelWork{0, "user ann", false, ids[0]}));
  EXPECT_TRUE(story.ask(CancelWork{0, "user root", true, ids[1]}));
  EXPECT_EQ(story.record(ids[0]).state, WorkState::kCancelled);
  EXPECT_EQ(story.record(ids[1]).state, WorkState::kCancelled);

  const auto again = story.ask(CancelWork{0, "user ann", false, ids[0]});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kNotFound);
}

TEST_F(SubmitTest, ACancelledJobIsNeverPlaced) {
  const auto ids = *submit({story.job(2), story.job(2)});
  const auto on = story.all<CreateCall>().at(0).instance;
  (void)story.ask(CancelWork{0, "user ann", false, ids[0]});
  story.clear();
  story.boot(on);
  const auto starts = story.commands<model::StartAttempt>();
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].attempt.work, ids[1]);
}

TEST_F(SubmitTest, TotalsFollowTheJobs) {
  const auto [id, on] = story.running();
  EXPECT_THAT(story.dispatcher.queries().totals(story.now.mono).jobs, ElementsAre(0, 0, 1, 0, 0));
  story.exited(on, id);
  EXPECT_THAT(story.dispatcher.queries().totals(story.now.mono).jobs, ElementsAre(0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace hostler::dispatch
