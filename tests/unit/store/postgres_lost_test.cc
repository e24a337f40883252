// A database that is not this process's any more: another daemon has it, or a backup was restored.

#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <sched.h>

#include <cstdlib>
#include <optional>

#include "core/crypto/random.h"
#include "tests/unit/store/postgres_fixture.h"

namespace hostler::store {
namespace {

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

TEST_P(PostgresDeathTest, EndsTheProcessWhenABackupIsRestoredUnderIt) {
  ASSERT_TRUE(commit(whole_commit(1)));
  const auto restored_under_it = testing::KilledBySignal(SIGABRT);
  // The session lives on, the rows are those of another time.
  EXPECT_EXIT(
      {
        server().sql(postgres_,
                     "BEGIN; UPDATE hostler.meta SET value = 'other 7' WHERE key = 'last_commit'; "
                     "INSERT INTO hostler.ledger SELECT rev + 1, time_us, epoch, actor, subject, "
                     "event, reason_code, reason, cause_rev, data FROM hostler.ledger; COMMIT");
        (void)commit(whole_commit(2));
      },
      restored_under_it, "backup was restored under it");
  // Nothing is committed meanwhile.
  EXPECT_EXIT(
      {
        server().sql(postgres_, "DELETE FROM hostler.meta WHERE key = 'last_commit'");
        std::promise<void>().get_future().wait();
      },
      restored_under_it, "backup was restored under it");
  EXPECT_EXIT(
      {
        server().sql(postgres_, "DROP SCHEMA hostler CASCADE");
        (void)commit(whole_commit(2));
      },
      restored_under_it, "backup was restored under it");
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

}  // namespace
}  // namespace hostler::store
