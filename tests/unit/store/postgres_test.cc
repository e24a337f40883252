// Failures that only a database server has: it stops during a commit, belongs to another daemon, or
// has wrong settings.

#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <sched.h>

#include <cstdlib>
#include <optional>

#include "core/crypto/random.h"
#include "core/store/postgres/failures.h"
#include "core/store/postgres/refusal.h"
#include "core/store/rows.h"
#include "tests/unit/store/cut_proxy.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Names a standby that does not exist, so commits wait until forget().
class StandbyThatIsAway {
 public:
  StandbyThatIsAway(PostgresServer& server, std::string database)
      : server_(server), database_(std::move(database)) {
    set("'nobody'");
  }
  ~StandbyThatIsAway() { forget(); }
  StandbyThatIsAway(const StandbyThatIsAway&) = delete;
  StandbyThatIsAway& operator=(const StandbyThatIsAway&) = delete;
  void forget() { set("''"); }

 private:
  void set(const std::string& names) {
    server_.sql(database_, "ALTER SYSTEM SET synchronous_standby_names = " + names);
    server_.sql(database_, "SELECT pg_reload_conf()");
  }

  PostgresServer& server_;
  const std::string database_;
};

bool is_ready(const std::future<Result<Committed>>& done) {
  return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

class PostgresTest : public StoreFixture {
 protected:
  PostgresServer& server() { return *PostgresServer::get(); }
  /// A job, its attempt with inline output and a record. Applying it twice would break a
  /// constraint.
  static model::Commit whole_commit(std::uint64_t id) {
    model::AttemptChanged ended;
    ended.attempt = {{id}, 1};
    ended.state = model::AttemptState::kEnded;
    ended.end.emplace();
    ended.end->stdout_inline = "output of " + std::to_string(id);
    return commit_of({new_job(id), ended, record(id, model::WorkId{id}.text(), "ended")});
  }
  void expect_whole(std::uint64_t jobs) {
    EXPECT_EQ(store_->reads().ledger(0, 10'000)->items.size(), jobs);
    for (std::uint64_t id = 1; id <= jobs; ++id) {
      const auto output = store_->read_output({{id}, 1}, kStdoutStream, 0, 100);
      ASSERT_TRUE(output) << output.error().message;
      EXPECT_EQ(output->data, "output of " + std::to_string(id));
    }
  }
  std::string refusal(const std::string& conninfo) {
    const auto opened = Store::open(folder_.path() / "other", {.postgres = conninfo});
    return opened ? "it was opened" : opened.error().message;
  }
};

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresTest, testing::Values(Engine::kPostgres));

// ---- sending ------------------------------------------------------------------------------------

TEST_P(PostgresTest, SendsLargeBodiesAsTheyComeAndNotAllAtTheCommit) {
  store_.reset();
  auto connection = connect(place(), Mode::kWrite);
  ASSERT_TRUE(connection && (*connection)->begin());
  auto put = (*connection)->prepare(insert_sql("meta", "key, value"));
  ASSERT_TRUE(put);
  const auto writing = [&] {
    return server().sql(postgres_,
                        "SELECT count(*) FROM pg_stat_activity "
                        "WHERE backend_xid IS NOT NULL AND datname = current_database()");
  };

  EXPECT_EQ(writing(), "0");
  ASSERT_TRUE(put->run("large", std::string(3 << 20, 'b')));
  EXPECT_EQ(writing(), "1");

  ASSERT_TRUE((*connection)->commit());
}

// ---- lost connections ---------------------------------------------------------------------------

TEST_P(PostgresTest, AppliesACommitOnceWhateverHappensToItsAnswer) {
  const TempFolder sockets;
  CutProxy proxy(sockets.path(), server().socket_folder());
  const auto direct = postgres_;
  postgres_ = PostgresServer::conninfo(sockets.path(), database_of(direct));
  HealthLog log;
  open({.on_health = log.callback()});
  ASSERT_TRUE(commit(whole_commit(1)));

  std::uint64_t id = 1;
  std::size_t said = 0;
  for (const auto where : {CutProxy::Cut::kBeforeCommit, CutProxy::Cut::kAfterCommit}) {
    proxy.cut(where);
    std::promise<bool> done;
    store_->commit(whole_commit(++id), [&](Result<Committed> result) { done.set_value(!!result); });
    ASSERT_TRUE(log.wait_for(++said));
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_THAT(log.at(said - 1).error, HasSubstr("answer to COMMIT was lost"));
    EXPECT_EQ(store_->health().queued, 1U);  // the outcome is not known yet
    proxy.let_through();
    ASSERT_TRUE(done.get_future().get());
    ASSERT_TRUE(log.wait_for(said + 1));
    said = log.size();
    EXPECT_TRUE(log.at(said - 1).ok);
  }

  ASSERT_TRUE(commit(whole_commit(++id)));
  expect_whole(id);
}

TEST_P(PostgresTest, LosesAndRepeatsNothingWhileItsSessionsAreEnded) {
  constexpr std::uint64_t kCommits = 400;
  std::vector<model::Revision> seen;
  std::promise<void> all;
  for (std::uint64_t id = 1; id <= kCommits; ++id) {
    store_->commit(whole_commit(id), [&](Result<Committed> done) {
      ASSERT_TRUE(done);
      seen.push_back(done->last_revision);
      if (seen.size() == kCommits) all.set_value();
    });
    if (id % 40 == 0) server().end_sessions(postgres_);
  }

  ASSERT_EQ(all.get_future().wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  expect_whole(kCommits);
}

TEST_P(PostgresTest, GoesOnByItselfWhenTheServerWasRestarted) {
  HealthLog log;
  open({.on_health = log.callback()});
  ASSERT_TRUE(commit(whole_commit(1)));
  server().stop();
  std::promise<bool> done;
  store_->commit(whole_commit(2), [&](Result<Committed> result) { done.set_value(!!result); });
  ASSERT_TRUE(log.wait_for(1));
  EXPECT_EQ(store_->reads().job({1}).error().code, Errc::kUnavailable);

  server().start();

  ASSERT_TRUE(done.get_future().get());
  auto job = store_->reads().job({2});
  while (!job && job.error().code == Errc::kUnavailable) {
    ::sched_yield();  // the store remembers a refusal for a second
    job = store_->reads().job({2});
  }
  EXPECT_TRUE(job);
  expect_whole(2);
}

TEST_P(PostgresTest, ReadsAndWritesAfterItsIdleSessionsWereEnded) {
  ASSERT_TRUE(commit(whole_commit(1)));
  ASSERT_TRUE(store_->reads().job({1}));

  EXPECT_GE(server().end_sessions(postgres_), 4);

  EXPECT_TRUE(store_->reads().job({1}));
  ASSERT_TRUE(commit(whole_commit(2)));
  expect_whole(2);
}

TEST_P(PostgresTest, AcknowledgesACommitWithALostAnswerOnlyWhenItsStandbyHasIt) {
  const auto waiting = [&] {
    return server().sql(postgres_,
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !=
           "0";
  };
  StandbyThatIsAway standby(server(), postgres_);
  std::uint64_t id = 0;
  std::future<Result<Committed>> done;
  do {  // the server may read its new settings only after some commits
    const auto promise = std::make_shared<std::promise<Result<Committed>>>();
    done = promise->get_future();
    store_->commit(whole_commit(++id), [promise](auto result) { promise->set_value(result); });
    while (!is_ready(done) && !waiting()) ::sched_yield();
  } while (is_ready(done));

  // The server has committed, the standby has not. The session that finds the commit must wait too.
  server().end_sessions(postgres_);
  while (!is_ready(done) && !waiting()) ::sched_yield();
  ASSERT_FALSE(is_ready(done));
  EXPECT_EQ(store_->health().queued, 1U);

  standby.forget();
  ASSERT_TRUE(done.get());
  expect_whole(id);
}

TEST_P(PostgresTest, GivesUpReadingWithinSecondsWhenTheServerIsSilent) {
  const TempFolder sockets;
  CutProxy proxy(sockets.path(), server().socket_folder());
  postgres_ = PostgresServer::conninfo(sockets.path(), database_of(postgres_));
  open();

  proxy.fall_silent();

  const auto unanswered = store_->reads().job({1});
  ASSERT_FALSE(unanswered);
  EXPECT_EQ(unanswered.error().code, Errc::kUnavailable);
  EXPECT_THAT(unanswered.error().message, HasSubstr("not answered for 5 s"));
  const auto unreached = store_->reads().job({1});
  ASSERT_FALSE(unreached);
  EXPECT_EQ(unreached.error().code, Errc::kUnavailable);
  EXPECT_THAT(unreached.error().message, HasSubstr("timeout"));
}

TEST(PostgresRefusalTest, LetsOneTryAtATimeAndTellsTheOthersAtOnce) {
  using namespace std::chrono_literals;
  postgres::Refusal refusal;
  const auto now = postgres::Refusal::Clock::now();
  EXPECT_FALSE(refusal.current(now));
  refusal.set({Errc::kUnavailable, "away"}, 2s, now);

  EXPECT_EQ(refusal.current(now + 3900ms)->message, "away");
  EXPECT_FALSE(refusal.current(now + 4100ms));  // this caller may try
  EXPECT_EQ(refusal.current(now + 4200ms)->message, "away");
  refusal.set({Errc::kUnavailable, "refused"}, 1ms, now + 5s);
  EXPECT_EQ(refusal.current(now + 5900ms)->message, "refused");
  EXPECT_FALSE(refusal.current(now + 6100ms));
  refusal.clear();
  EXPECT_FALSE(refusal.current(now + 6200ms));
}

// ---- one daemon for each database ---------------------------------------------------------------

TEST_P(PostgresTest, RefusesASecondDaemonOnItsDatabaseAndNamesTheFirst) {
  EXPECT_THAT(refusal(postgres_),
              AllOf(HasSubstr("in use by hostlerd " + std::to_string(::getpid()) + " on "),
                    HasSubstr("stop that one")));
  ASSERT_TRUE(commit(whole_commit(1)));
}

class PostgresDeathTest : public PostgresTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    (void)PostgresServer::get();  // the server's user may not enter the folder
    // The process that dies does not remove its files, so it creates them in this test's folder.
    if (const char* before = std::getenv("TMPDIR"); before != nullptr) folder_before_ = before;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
    PostgresTest::SetUp();
  }
  void TearDown() override {
    if (folder_before_)
      ::setenv("TMPDIR", folder_before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }
  /// Another session waits for the lock of the database, and gets it when our session is ended.
  void take_it_from_us() {
    PGconn* const other = PQconnectdb((postgres_ + " application_name=another").c_str());
    PQsendQuery(other, "SELECT pg_advisory_lock(7525360446231376484)");
    PQflush(other);
    const auto waiting =
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while (server().sql(postgres_, waiting) == "0") ::sched_yield();
    server().sql(postgres_,
                 "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks "
                 "WHERE locktype = 'advisory' AND granted AND database = "
                 "(SELECT oid FROM pg_database WHERE datname = current_database())");
  }

 private:
  std::optional<std::string> folder_before_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresDeathTest, testing::Values(Engine::kPostgres));

TEST_P(PostgresDeathTest, EndsTheProcessWhenAnotherDaemonHasTheDatabase) {
  EXPECT_EXIT(
      {
        take_it_from_us();
        (void)commit(whole_commit(1));
      },
      testing::KilledBySignal(SIGABRT), "in use by another");
}

TEST_P(PostgresDeathTest, EndsTheProcessWhenSomebodyElseHasWritten) {
  EXPECT_EXIT(
      {
        server().sql(postgres_,
                     "UPDATE hostler.meta SET value = 'other 7' WHERE key = 'last_commit'");
        server().end_sessions(postgres_);
        (void)commit(whole_commit(1));
      },
      testing::KilledBySignal(SIGABRT), "not as this hostlerd left it");
}

TEST_P(PostgresDeathTest, EndsTheProcessWhenACommitBreaksTheRules) {
  EXPECT_EXIT((void)commit(commit_of({record(1, "x", "a"), record(1, "x", "the same revision")})),
              testing::KilledBySignal(SIGABRT), "bug in hostlerd");
}

TEST_P(PostgresDeathTest, EndsTheProcessWhenACommitIsTooLargeForAnIndex) {
  auto job = new_job(1);
  job.name = crypto::random_hex(10'000);
  EXPECT_EXIT((void)commit(commit_of({job})), testing::KilledBySignal(SIGABRT), "bug in hostlerd");
}

TEST(PostgresFailureTest, TriesAgainOnlyWhatMayEndOtherwise) {
  for (const auto* passing : {"08006", "40P01", "42501", "53100", "55P03", "57P01", "XX001"})
    EXPECT_EQ(postgres::failure_of(passing), Failure::kTransient) << passing;
  for (const auto* ours : {"22021", "23505", "42703", "54000"})
    EXPECT_EQ(postgres::failure_of(ours), Failure::kProgramError) << ours;
}

// ---- wrong settings -----------------------------------------------------------------------------

TEST_P(PostgresTest, RefusesAPasswordAndNeverShowsIt) {
  for (const auto* conninfo :
       {"host=/nowhere password=opensesame", "postgresql://ann:opensesame@db.example.org/hostler",
        "sslpassword = opensesame", "opensesame"})
    EXPECT_THAT(refusal(conninfo),
                AllOf(HasSubstr("store.postgres"), Not(HasSubstr("opensesame"))));
}

TEST_P(PostgresTest, SaysWhatToDoWhenItCannotHaveTheDatabase) {
  const auto& sockets = server().socket_folder();
  EXPECT_THAT(refusal("host=" + folder_.path().string()), HasSubstr("see that the server runs"));
  EXPECT_THAT(refusal(PostgresServer::conninfo(sockets, "nobodys")), HasSubstr("createdb"));
  EXPECT_THAT(refusal("host=" + sockets.string() + " user=nobody dbname=postgres"),
              HasSubstr("createuser"));
  EXPECT_THAT(refusal(server().new_database("ENCODING 'SQL_ASCII' TEMPLATE template0")),
              HasSubstr("--encoding=UTF8"));
  const auto database = server().new_database();
  const auto role = "plain_" + database_of(database);
  server().sql(database, "CREATE ROLE " + role + " LOGIN");
  EXPECT_THAT(
      refusal("host=" + sockets.string() + " user=" + role + " dbname=" + database_of(database)),
      HasSubstr("ALTER DATABASE"));
}

TEST_P(PostgresTest, WaitsForTheDiskWhateverTheDatabasesDefaultIs) {
  store_.reset();
  postgres_ = server().new_database();
  server().sql(postgres_,
               "ALTER DATABASE " + database_of(postgres_) + " SET synchronous_commit = 'off'");

  auto connection = connect(place(), Mode::kWrite);

  ASSERT_TRUE(connection);
  auto show = (*connection)->prepare("SHOW synchronous_commit");
  ASSERT_TRUE(show && show->next());
  EXPECT_EQ(show->text(0), "on");
}

// ---- the state folder ---------------------------------------------------------------------------

TEST_P(PostgresTest, RefusesAFolderWhoseRowsAreElsewhere) {
  store_.reset();
  EXPECT_THAT(Store::open(state(), {}).error().message, HasSubstr("its rows are in PostgreSQL"));
  EXPECT_THAT(Store::open(state(), {.postgres = server().new_database()}).error().message,
              HasSubstr("another database's jobs"));
  ASSERT_TRUE(Store::open(folder_.path() / "sqlite", {}));
  EXPECT_THAT(
      Store::open(folder_.path() / "sqlite", {.postgres = server().new_database()}).error().message,
      HasSubstr("rows of its own"));
  open();
}

TEST_P(PostgresTest, ShowsNoOtherJobsOutputWhenTheFolderWasLost) {
  ASSERT_TRUE(commit(whole_commit(1)));
  store_.reset();
  std::filesystem::remove_all(state());
  open();

  ASSERT_TRUE(commit(whole_commit(2)));

  EXPECT_FALSE(store_->read_output({{1}, 1}, kStdoutStream, 0, 100));
  EXPECT_EQ(store_->read_output({{2}, 1}, kStdoutStream, 0, 100)->data, "output of 2");
}

}  // namespace
}  // namespace hostler::store
