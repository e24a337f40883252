// Failures that only a database server has: it stops during a commit, or has wrong settings.

#include <gmock/gmock.h>
#include <sched.h>

#include "core/store/postgres/failures.h"
#include "core/store/postgres/refusal.h"
#include "core/store/rows.h"
#include "tests/unit/store/cut_proxy.h"
#include "tests/unit/store/postgres_fixture.h"

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
                        "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation "
                        "WHERE c.relkind = 't' AND l.mode = 'RowExclusiveLock'");
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

TEST_P(PostgresTest, TellsOfASilentServerWhileItStillWaitsForTheAnswer) {
  const TempFolder sockets;
  CutProxy proxy(sockets.path(), server().socket_folder());
  postgres_ = PostgresServer::conninfo(sockets.path(), database_of(postgres_));
  HealthLog log;
  open({.on_health = log.callback()});
  ASSERT_TRUE(commit(whole_commit(1)));

  proxy.fall_silent();  // nobody commits

  ASSERT_TRUE(log.wait_for(1));
  EXPECT_FALSE(log.at(0).ok);
  EXPECT_THAT(log.at(0).error, HasSubstr("not answered for 3 s"));
  EXPECT_FALSE(store_->health().ok);
  proxy.let_through();
  server().end_sessions(postgres_);  // what was said meanwhile is lost
  ASSERT_TRUE(log.wait_for(2));
  ASSERT_TRUE(commit(whole_commit(2)));
  EXPECT_TRUE(store_->health().ok);
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
