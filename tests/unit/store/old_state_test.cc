#include <gmock/gmock.h>

#include <fstream>

#include "core/store/connect.h"
#include "core/store/copy_rows.h"
#include "core/store/schema.h"
#include "tests/unit/store/fixture.h"

/// A start that goes on from rows that are older than what the folder has seen.
namespace hostler::store {
namespace {

using model::InstanceState;
using model::WorkId;
using model::WorkState;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kMinute = std::int64_t{60} * 1'000'000;

class OldStateTest : public StoreFixture {
 protected:
  /// The rows are as they were when a backup was made of them.
  void make_old() {
    store_.reset();
    std::ofstream(state() / kRestoredMark);
  }
  model::Restored go_on(Wall now = {1}) {
    Options options;
    options.go_on = now;
    open(std::move(options));
    auto restored = store_->load();
    EXPECT_TRUE(restored) << restored.error().message;
    return restored ? *std::move(restored) : model::Restored{};
  }
  static model::WorkState state_of(const model::Restored& restored, std::uint64_t id) {
    for (const auto& item : restored.work)
      if (item.record.id.value == id) return item.record.state;
    ADD_FAILURE() << "j-" << id << " is not there";
    return {};
  }
  void commit_jobs() {
    auto ran = job_in(2, WorkState::kRunning);
    must_commit({new_job(1), new_job(2), new_job(3), ran, job_in(3, WorkState::kSucceeded),
                 instance_in(7, InstanceState::kBusy), record(20, "j-1", "submitted")});
  }
};
HOSTLER_ON_BOTH_ENGINES(OldStateTest);

TEST_P(OldStateTest, NothingIsChangedUntilAnAdminGoesOn) {
  commit_jobs();
  make_old();
  open();
  EXPECT_THAT(store_->old_state(), HasSubstr("it was loaded from a backup"));
  const auto restored = store_->load();
  ASSERT_TRUE(restored);
  EXPECT_EQ(state_of(*restored, 1), WorkState::kQueued);
  EXPECT_FALSE(restored->goes_on);
}

TEST_P(OldStateTest, JobsThatWaitedAreHeldAndAllThatLivedIsMarked) {
  commit_jobs();
  make_old();
  auto restored = go_on();
  EXPECT_TRUE(restored.goes_on);
  for (int start = 0; start < 2; ++start) {  // It is durable.
    EXPECT_EQ(state_of(restored, 1), WorkState::kHeld);
    EXPECT_EQ(state_of(restored, 2), WorkState::kRunning);
    ASSERT_THAT(restored.work, SizeIs(2));
    for (const auto& item : restored.work) EXPECT_TRUE(item.record.restored);
    EXPECT_THAT(restored.work[0].record.reason_text, HasSubstr("when the backup was made"));
    ASSERT_THAT(restored.instances, SizeIs(1));
    EXPECT_TRUE(restored.instances[0].record.restored);
    restored = reopened();
    EXPECT_FALSE(restored.goes_on);
  }
}

TEST_P(OldStateTest, ABackupHasTheGpusThatWorkAsksForAndHas) {
  auto waits = new_job(1);
  waits.shape.needs.gpus = 2;
  waits.shape.constraints.gpu = {.kind = "a100", .memory = 40};
  model::AttemptChanged attempt;
  attempt.attempt = {{2}, 1};
  attempt.instance = {7};
  attempt.cards = {"GPU-5a13bb21", "GPU-0c99"};
  auto ran = job_in(2, WorkState::kRunning);
  ran.record.attempt = 1, ran.record.instance = {7};
  must_commit({waits, new_job(2), ran, attempt, instance_in(7, InstanceState::kBusy)});
  store_.reset();
  const Place copy{folder_.path() / "copy"};
  std::filesystem::create_directories(copy.folder);
  {
    const auto from = connect(place(), Mode::kRead).value();
    const auto to = connect(copy, Mode::kWrite).value();
    ASSERT_TRUE(migrate(*to));
    ASSERT_TRUE(copy_rows(*from, *to));
  }
  std::ofstream(copy.folder / kRestoredMark);
  Options options;
  options.go_on = Wall{1};
  store_ = Store::open(copy.folder, std::move(options)).value();
  const auto restored = store_->load().value();
  EXPECT_EQ(state_of(restored, 1), WorkState::kHeld);
  EXPECT_EQ(restored.work.at(0).shape, waits.shape);
  ASSERT_THAT(restored.attempts, SizeIs(1));
  EXPECT_EQ(restored.attempts[0].cards, attempt.cards);
  EXPECT_THAT(restored.damaged, IsEmpty());
}

TEST_P(OldStateTest, AHeldJobIsListedAsHeldAndCountedThere) {
  commit_jobs();
  make_old();
  go_on();
  const auto held = store_->reads().jobs({.states = {WorkState::kHeld}});
  ASSERT_TRUE(held);
  ASSERT_THAT(held->items, SizeIs(1));
  EXPECT_EQ(held->items[0].record.id, WorkId{1});
  EXPECT_EQ(store_->reads().counts()->jobs.at(static_cast<std::size_t>(WorkState::kHeld)), 1U);
}

TEST_P(OldStateTest, NoNumberIsGivenOutAgain) {
  commit_jobs();
  const auto before = reopened();
  make_old();
  const auto after = go_on();
  EXPECT_THAT(after.last_work, Ge(before.last_work + 1'000'000));
  EXPECT_THAT(after.last_instance, Ge(before.last_instance + 1'000'000));
  EXPECT_THAT(after.epoch, Ge(before.epoch + 1'000));
  EXPECT_EQ(after.restored_epoch, after.epoch);
  EXPECT_THAT(after.left_out, ElementsAre(model::LeftOut{before.last_work + 1, after.last_work}));
  EXPECT_EQ(reopened().left_out, after.left_out);
}

// Bug: the same backup, restored twice within an hour, gave out the same numbers twice.
TEST_P(OldStateTest, TheSameBackupThatIsRestoredLaterGetsOtherNumbers) {
  commit_jobs();  // Its newest record is of the first microsecond.
  const auto before = reopened();
  make_old();
  const auto first = go_on({10 * kMinute});
  make_old();
  const auto second = go_on({40 * kMinute});
  // How far each went beyond what it began with: the two began with different rows here.
  const auto first_gap = first.last_work - before.last_work;
  const auto second_gap = second.last_work - first.last_work;
  EXPECT_GE(second_gap, first_gap + 1'000'000U);
  EXPECT_GT(second.epoch - first.epoch, first.epoch - before.epoch + 1'000U);
  EXPECT_THAT(second.left_out, SizeIs(2));
}

TEST_P(OldStateTest, AClockThatJumpsLeavesOutNoMoreThanThereIs) {
  commit_jobs();
  for (const std::int64_t now : {INT64_MAX, INT64_MIN}) {
    make_old();
    EXPECT_LE(go_on({now}).last_work, 1'000'000'000'000U);
  }
}

TEST_P(OldStateTest, WorkWhoseNumberWasLeftOutIsKnownAlsoWhenItHasEnded) {
  commit_jobs();
  make_old();
  const std::uint64_t foreign = go_on().left_out.at(0).first + 5;
  auto taken = new_job(foreign);
  taken.arrival = 4;
  must_commit({taken});
  EXPECT_THAT(reopened().taken_over, IsEmpty());
  must_commit({job_in(foreign, WorkState::kSucceeded)});
  EXPECT_THAT(reopened().taken_over, ElementsAre(WorkId{foreign}));
}

/// The rows are there, and the folder has never seen them.
TEST_P(OldStateTest, AFolderThatDoesNotKnowTheRowsDoubtsThemUntilItIsTold) {
  EXPECT_FALSE(reopened().doubted) << "a new database is no older one";
  commit_jobs();
  const auto before = reopened();
  store_.reset();
  std::filesystem::remove(state() / "known");
  for (int start = 0; start < 2; ++start)  // Each start raises the epoch.
    EXPECT_EQ(reopened().doubted, before.epoch);
  ASSERT_TRUE(store_->trust_state());
  EXPECT_FALSE(reopened().doubted);
}

// Bug: the file was changed by two threads at once. The thread sanitizer sees it.
TEST_P(OldStateTest, ALaterEpochIsNotedBesideCommits) {
  const auto epoch = reopened().epoch;
  constexpr std::uint64_t kCommits = 50;
  for (std::uint64_t rev = 1; rev <= kCommits; ++rev) {
    store_->commit(commit_of({record(rev, "site", "started")}), nullptr);
    store_->found_old("instance i-9 is of a later epoch", epoch + rev);
  }
  must_commit({record(kCommits + 1, "site", "started")});
  open();
  EXPECT_THAT(store_->old_state(), HasSubstr("revision " + std::to_string(kCommits + 1) +
                                             " of epoch " + std::to_string(epoch + kCommits + 1)));
}

// Bug: the server ended a statement after a minute, and each later start likewise.
TEST_P(OldStateTest, TheServerDoesNotLimitTheTimeToGoOn) {
  if (!on_postgres()) return;  // SQLite has no such limit.
  commit_jobs();
  make_old();
  {
    const auto connection = connect(place(), Mode::kWrite).value();
    ASSERT_TRUE(connection->execute(
        "CREATE TABLE seen (time_limit TEXT); CREATE FUNCTION see() RETURNS trigger AS 'BEGIN "
        "INSERT INTO seen VALUES (current_setting(''statement_timeout'')); RETURN NULL; END' "
        "LANGUAGE plpgsql; CREATE TRIGGER see AFTER UPDATE ON work EXECUTE FUNCTION see()"));
  }
  go_on();
  store_.reset();
  const auto connection = connect(place(), Mode::kRead).value();
  auto seen = connection->prepare("SELECT DISTINCT time_limit FROM seen").value();
  ASSERT_TRUE(seen.start());
  ASSERT_TRUE(*seen.next());
  EXPECT_EQ(seen.text(0), "0");
  EXPECT_FALSE(*seen.next());
}

TEST_P(OldStateTest, ALaterEpochThatACloudKnowsIsRememberedAndLeftOut) {
  commit_jobs();
  const auto before = reopened();
  store_->found_old("instance i-9 is of a later epoch", before.epoch + 50);
  EXPECT_THAT(store_->old_state(), HasSubstr("i-9"));
  open();
  EXPECT_THAT(store_->old_state(), HasSubstr("this folder knows"));
  EXPECT_GT(go_on().epoch, before.epoch + 50);
  EXPECT_EQ(store_->old_state(), "");
}

// Bug: --restored wrote an epoch that no later start could read, or began with epoch 0 again.
TEST_P(OldStateTest, AnEpochThatNoStoreCanHoldEndsInOneThatEachStartReads) {
  commit_jobs();
  for (const std::uint64_t epoch : {std::uint64_t{INT64_MAX}, UINT64_MAX}) {
    const auto before = reopened().epoch;
    store_->found_old("instance i-9 is of a later epoch", epoch);
    open();
    EXPECT_THAT(store_->old_state(), HasSubstr("this folder knows"));
    const auto after = go_on();
    EXPECT_GT(after.epoch, before + model::kEpochsBehindMax);
    EXPECT_LT(after.epoch, before + 2 * model::kEpochsBehindMax);
    EXPECT_EQ(reopened().epoch, after.epoch + 1);
    EXPECT_EQ(store_->old_state(), "");
  }
}

TEST_P(OldStateTest, ALaterEpochThatOneSetShowsLetsAnAdminGoOnAndStopsNoStart) {
  commit_jobs();
  const auto before = reopened().epoch;
  ASSERT_TRUE(store_->note_later(before + 50));
  EXPECT_EQ(reopened().epoch, before + 1);
  EXPECT_EQ(store_->old_state(), "");
  store_.reset();
  const auto after = go_on();
  EXPECT_TRUE(after.goes_on);
  EXPECT_GT(after.epoch, before + 50);
  store_.reset();
  EXPECT_FALSE(go_on().goes_on) << "it was done";
}

TEST_P(OldStateTest, ARevisionThatNoStoreCanHoldTellsNothing) {
  commit_jobs();
  const auto owner = reopened().owner;
  store_.reset();
  std::ofstream(state() / "known") << owner << " 1 " << UINT64_MAX << "\n";
  EXPECT_TRUE(go_on().goes_on);
  EXPECT_TRUE(reopened().epoch > 0);
}

}  // namespace
}  // namespace hostler::store
