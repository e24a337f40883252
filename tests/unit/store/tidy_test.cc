#include "core/store/tidy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/base/files.h"
#include "core/crypto/hash.h"
#include "tests/unit/store/cut_proxy.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

using model::InstanceState;
using model::WorkState;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Wall kNow{1'760'000'000'000'000};

Wall days_ago(int days) { return kNow + Duration(-days * 24h); }

class TidyTest : public StoreFixture {
 protected:
  using Ended = std::pair<Tidied, Result<void>>;

  std::future<Ended> begin_tidy(const Keep& keep = {}) {
    const auto done = std::make_shared<std::promise<Ended>>();
    store_->tidy(keep, kNow, [done](const Tidied& gone, const Result<void>& ended) {
      done->set_value({gone, ended});
    });
    return done->get_future();
  }
  Tidied tidy(const Keep& keep = {}) {
    const auto [gone, ended] = begin_tidy(keep).get();
    EXPECT_TRUE(ended) << ended.error().message;
    return gone;
  }
  /// A job that ended so long ago, with an attempt and inline output.
  void add_job(std::uint64_t id, WorkState state, int days, model::Revision rev) {
    add_work({id}, state, days, rev);
  }
  void add_work(model::WorkId id, WorkState state, int days, model::Revision rev) {
    auto item = new_work(id);
    item.record.state = state;
    model::AttemptChanged attempt;
    attempt.attempt = {id, 1};
    attempt.state = model::AttemptState::kDone;
    attempt.end.emplace();
    attempt.end->stdout_inline = "out " + std::to_string(id.value);
    attempt.end->has_output_files = true;
    must_commit({item, attempt, record(rev, id.text(), "submitted", days_ago(days)),
                 record(rev + 1, id.text(), "ended", days_ago(days))});
  }
  bool has_job(std::uint64_t id) { return store_->reads().job({id}).has_value(); }
};

HOSTLER_ON_BOTH_ENGINES(TidyTest);

TEST_P(TidyTest, RemovesOldEndedJobsWholeAndKeepsTheRest) {
  add_job(1, WorkState::kSucceeded, 31, 1);
  add_job(2, WorkState::kRunning, 31, 3);
  add_job(3, WorkState::kFailed, 29, 5);
  const auto listed = std::make_shared<std::promise<void>>();
  store_->outputs().set_files({{1}, 1}, {{.path = "a", .size = 0}},
                              [listed](const Result<void>&) { listed->set_value(); });
  listed->get_future().get();

  const auto done = tidy();

  EXPECT_THAT(done.work, ElementsAre(model::WorkId{1}));
  EXPECT_EQ(done.records, 2U);
  EXPECT_FALSE(has_job(1));
  EXPECT_TRUE(has_job(2) && has_job(3));
  EXPECT_EQ(store_->reads().attempt({{1}, 1}).error().code, Errc::kNotFound);
  EXPECT_THAT(store_->reads().ledger_of("j-1", 0, 10)->items, IsEmpty());
  EXPECT_EQ(store_->reads().ledger_of("j-2", 0, 10)->items.size(), 2U);
  EXPECT_THAT(*store_->outputs().files({{1}, 1}), IsEmpty());
  EXPECT_EQ(store_->read_output({{3}, 1}, kStdoutStream, 0, 100)->data, "out 3");
}

TEST_P(TidyTest, RemovesOldEndedWorkOfEveryKind) {
  add_work({1, kLease}, WorkState::kSucceeded, 31, 1);
  add_work({2, kReservation}, WorkState::kFailed, 31, 3);
  add_work({3, kLease}, WorkState::kRunning, 31, 5);
  must_commit({terms_of(1), terms_of(3)});

  const auto done = tidy();

  EXPECT_THAT(done.work, ElementsAre(model::WorkId{1, kLease}, model::WorkId{2, kReservation}));
  EXPECT_EQ(store_->reads().attempt({{1, kLease}, 1}).error().code, Errc::kNotFound);
  EXPECT_EQ(store_->reads().lease_terms({{1, kLease}, {3, kLease}})->size(), 1U);
  EXPECT_THAT(store_->reads().ledger_of("r-2", 0, 10)->items, IsEmpty());
  const auto restored = reopened();
  ASSERT_EQ(restored.work.size(), 1U);
  EXPECT_EQ(restored.work[0].record.id.text(), "l-3");
  EXPECT_THAT(restored.leases, ElementsAre(terms_of(3).record));
}

// Bug: it was removed before the others, and a repeated request got a second gang.
TEST_P(TidyTest, KeepsTheLeaseWithTheClientKeyOfAGangAsLongAsAnotherOne) {
  const auto add = [&](std::uint64_t id, WorkState state) {
    auto item = new_work({id, kLease});
    item.record.state = state;
    item.shape.gang = {1, 3, false};
    if (id == 1) item.client_key = "k";
    const std::string subject = item.record.id.text();
    must_commit({item, terms_of(id), record(id, subject, "submitted", days_ago(31))});
  };
  add(1, WorkState::kSucceeded);
  add(2, WorkState::kSucceeded);
  add(3, WorkState::kRunning);
  EXPECT_THAT(tidy().work, ElementsAre(model::WorkId{2, kLease}));
  const auto first = store_->reads().lease({1, kLease});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->item.client_key, "k");

  model::WorkChanged ended;
  ended.record.id = {3, kLease};
  ended.record.state = WorkState::kSucceeded;
  must_commit({ended});
  EXPECT_THAT(tidy().work,
              testing::UnorderedElementsAre(model::WorkId{1, kLease}, model::WorkId{3, kLease}));
  EXPECT_THAT(reopened().client_keys, IsEmpty());
}

TEST_P(TidyTest, KeepsAJobWhoseLastRecordIsYoung) {
  add_job(1, WorkState::kSucceeded, 31, 1);
  must_commit({record(10, "j-1", "fetched", days_ago(1))});

  EXPECT_THAT(tidy().work, IsEmpty());
  EXPECT_EQ(store_->reads().ledger_of("j-1", 0, 10)->items.size(), 3U);
}

TEST_P(TidyTest, RemovesGoneInstancesAndOldRecordsOfAllElse) {
  must_commit({instance_in(1, InstanceState::kGone), instance_in(2, InstanceState::kIdle),
               record(1, "h-1", "gone", days_ago(40)), record(2, "h-2", "idle", days_ago(40)),
               record(3, "pool default", "planned", days_ago(40)),
               record(4, "pool default", "planned", days_ago(2))});

  const auto done = tidy();

  EXPECT_EQ(done.instances, 1U);
  EXPECT_EQ(done.records, 2U);
  EXPECT_FALSE(store_->reads().instance({1}));
  EXPECT_TRUE(store_->reads().instance({2}));
  EXPECT_EQ(store_->reads().ledger_of("h-2", 0, 10)->items.size(), 1U);
  EXPECT_EQ(store_->reads().ledger_of("pool default", 0, 10)->items.size(), 1U);
}

TEST_P(TidyTest, RemovesYoungerOnesBeyondTheSizeButNoneOfTheLastHour) {
  add_job(1, WorkState::kSucceeded, 2, 1);
  auto fresh = new_job(2);
  fresh.record.state = WorkState::kSucceeded;
  must_commit({fresh, record(5, "j-2", "ended", kNow + Duration(-10min))});

  const auto done = tidy({.bytes = 1});

  EXPECT_THAT(done.work, ElementsAre(model::WorkId{1}));
  EXPECT_TRUE(has_job(2));
}

TEST_P(TidyTest, StopsWhenWhatIsLeftIsNotTooMuch) {
  std::vector<model::Change> changes;
  for (std::uint64_t id = 1; id <= 4000; ++id) {
    auto job = new_job(id, std::string(1000, 'b'));
    job.record.state = WorkState::kSucceeded;
    changes.emplace_back(job);
    changes.emplace_back(record(id, job.record.id.text(), "ended", days_ago(2)));
  }
  must_commit(std::move(changes));
  if (on_postgres()) PostgresServer::get()->sql(postgres_, "ANALYZE");
  const auto before = store_->reads().counts();
  ASSERT_TRUE(before);

  const auto jobs = tidy({.bytes = before->database_bytes / 2}).work.size();

  EXPECT_GE(jobs, 1500U);
  EXPECT_LE(jobs, 2500U);
}

// Bug: one segment that a live job needed kept those behind it, and everything was removed for
// size.
TEST_P(TidyTest, OneNeededSegmentKeepsNoOthers) {
  constexpr std::uint64_t kJobs = 1300;
  open({.segment_bytes_max = std::uint64_t{64} << 10});
  std::vector<model::Change> changes;
  for (std::uint64_t id = 1; id <= kJobs; ++id) {
    auto job = new_job(id);
    job.record.state = id == 1 ? WorkState::kRunning : WorkState::kSucceeded;
    model::AttemptChanged attempt;
    attempt.attempt = {{id}, 1};
    attempt.state = model::AttemptState::kDone;
    attempt.end.emplace();
    attempt.end->stdout_inline = std::string(1000, 'o');
    changes.insert(changes.end(),
                   {job, attempt, record(id, job.record.id.text(), "", days_ago(2))});
  }
  must_commit(std::move(changes));
  if (on_postgres()) PostgresServer::get()->sql(postgres_, "ANALYZE");
  const auto before = store_->reads().counts();
  ASSERT_TRUE(before);

  const auto jobs = tidy({.bytes = before->database_bytes + kJobs * 1000 / 2}).work.size();

  EXPECT_GE(jobs, 100U);
  EXPECT_LE(jobs, 1000U);
}

TEST_P(TidyTest, GivesNoNumberTwiceAfterTheHighestWereRemoved) {
  must_commit({instance_in(4, InstanceState::kGone), record(1, "h-4", "gone", days_ago(40))});
  add_job(9, WorkState::kSucceeded, 31, 7);
  tidy();

  const auto restored = reopened();

  EXPECT_EQ(restored.last_work, 9U);
  EXPECT_EQ(restored.last_arrival, 9U);
  EXPECT_EQ(restored.last_instance, 4U);
  EXPECT_EQ(restored.last_revision, 8U);
}

// Bug: a second removal noted the last number that was left, and a restart gave 9 out again.
TEST_P(TidyTest, GivesNoNumberTwiceAfterAnotherRemoval) {
  add_job(2, WorkState::kRunning, 40, 3);
  add_job(9, WorkState::kSucceeded, 31, 7);
  tidy();
  add_job(1, WorkState::kSucceeded, 35, 9);
  tidy();

  EXPECT_EQ(reopened().last_work, 9U);
}

TEST_P(TidyTest, RemovesSegmentsThatNoRowPointsInto) {
  open({.segment_bytes_max = 1});
  for (std::uint64_t id = 1; id <= 3; ++id) add_job(id, WorkState::kSucceeded, 31, 2 * id);
  add_job(4, WorkState::kSucceeded, 1, 20);
  add_job(5, WorkState::kSucceeded, 1, 30);

  const auto done = tidy();

  EXPECT_EQ(done.segments, 3U);
  EXPECT_EQ(store_->read_output({{4}, 1}, kStdoutStream, 0, 100)->data, "out 4");
  EXPECT_EQ(store_->read_output({{5}, 1}, kStdoutStream, 0, 100)->data, "out 5");
}

TEST_P(TidyTest, RemovesOldBlobsThatNoLiveJobNeeds) {
  std::vector<std::string> hashes;
  for (const char* content : {"needed", "of an ended job", "young"}) {
    hashes.push_back(crypto::sha256_hex(content));
    auto upload = store_->blobs().begin(hashes.back());
    ASSERT_TRUE(upload && (*upload)->append(content) && (*upload)->finish());
    const auto path =
        folder_.path() / "state" / "blobs" / hashes.back().substr(0, 2) / hashes.back();
    const auto days = hashes.size() == 3 ? 0 : 2;
    const timespec time{days_ago(days).us / 1'000'000, 0};
    const timespec times[2] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  auto ended = new_job(2, R"({"inputs":[{"sha256":")" + hashes[1] + R"("}]})");
  ended.record.state = WorkState::kSucceeded;
  must_commit({new_job(1, R"({"inputs":[{"path":"a","sha256":")" + hashes[0] + R"("}]})"), ended});

  const auto done = tidy();

  EXPECT_EQ(done.blobs, 1U);
  EXPECT_EQ(store_->blobs().exists(hashes[0]), true);
  EXPECT_EQ(store_->blobs().exists(hashes[1]), false);
  EXPECT_EQ(store_->blobs().exists(hashes[2]), true);
}

TEST_P(TidyTest, TakesManyStepsAndLetsCommitsThrough) {
  std::vector<model::Change> changes;
  for (std::uint64_t id = 1; id <= 3000; ++id) {
    auto job = new_job(id);
    job.record.state = WorkState::kSucceeded;
    changes.emplace_back(job);
    changes.emplace_back(record(id, job.record.id.text(), "ended", days_ago(31)));
  }
  must_commit(std::move(changes));
  auto tidied = begin_tidy();
  must_commit({new_job(4000)});

  const auto [gone, ended] = tidied.get();

  ASSERT_TRUE(ended);
  EXPECT_EQ(gone.work.size(), 3000U);
  EXPECT_TRUE(has_job(4000));
}

// Bug: a run that failed later forgot to tell what had gone; the keys of those jobs named nothing
// until a restart.
TEST_P(TidyTest, TellsWhatWentBeforeAFailure) {
  add_job(1, WorkState::kSucceeded, 31, 1);
  std::filesystem::remove_all(state() / "blobs");
  ASSERT_TRUE(write_file(state() / "blobs", "not a folder", 0600));

  const auto [gone, ended] = begin_tidy().get();

  EXPECT_FALSE(ended);
  EXPECT_FALSE(has_job(1));
  EXPECT_THAT(gone.work, ElementsAre(model::WorkId{1}));
}

/// SQLite always answers.
class TidyOnAServerTest : public TidyTest {};
INSTANTIATE_TEST_SUITE_P(Postgres, TidyOnAServerTest, testing::Values(Engine::kPostgres));

TEST_P(TidyOnAServerTest, TellsWhatIsDoubtfulOnceTheRowsCanBeSeen) {
  add_job(1, WorkState::kSucceeded, 31, 1);
  const TempFolder sockets;
  CutProxy proxy(sockets.path(), PostgresServer::get()->socket_folder());
  postgres_ = PostgresServer::conninfo(sockets.path(), database_of(postgres_));
  for (const auto where : {CutProxy::Cut::kBeforeCommit, CutProxy::Cut::kAfterCommit}) {
    open();
    proxy.cut(where);
    const auto [unknown, failed] = begin_tidy().get();
    EXPECT_TRUE(proxy.has_cut());
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::kOutcomeUnknown);
    EXPECT_THAT(unknown.work, IsEmpty());
    proxy.let_through();
    if (where == CutProxy::Cut::kAfterCommit) {
      EXPECT_THAT(tidy().work, ElementsAre(model::WorkId{1}));
    }
    store_.reset();
  }
}

}  // namespace
}  // namespace hostler::store
