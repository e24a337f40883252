#include "core/store/schema.h"

#include <gmock/gmock.h>

#include <set>

#include "core/store/connect.h"
#include "core/store/rows.h"
#include "tests/unit/store/fixture.h"

namespace hostler::store {
namespace {

using model::WorkState;
using testing::IsEmpty;

/// What version 1 of the schema can hold: job 5 ended, job 6 runs, their attempts, an instance with
/// its create, a gate, a record of the ledger; and that job 9 was removed.
constexpr const char* kRowsOfVersion1 = R"sql(
INSERT INTO meta VALUES ('owner', '0123456789abcdef0123456789abcdef'), ('epoch', '3'),
  ('last_job', '9'), ('last_arrival', '9');
INSERT INTO jobs VALUES
  (5, 4, 1, 'done', 1, 1, 7, 0, 0, 0, 1, 11, 12, 3, 0, 100, 200),
  (6, 2, 0, '', 2, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0, 300, 0);
INSERT INTO job_specs VALUES
  (5, 5, 1, 0, 1024, 0, '', -1, '', 0, 0, 3, 'user ann', 'first', '', '', 90, 'body 5'),
  (6, 6, 2, 1, 2048, 1, 'small,big', 1, 'z', -3, 1, 4, 'user bob', 'second', 'key', 'digest', 95,
   'body 6');
INSERT INTO attempts VALUES
  (5, 1, 7, 'boot', 1, 2, 1, 1, 0, 0, 'end', 3, 0, 0, 0, 11, 12, 1, 100, 200, 0, 0, 0, 0),
  (6, 2, 7, 'boot', 2, 0, 0, 0, 0, 0, '', 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO instances VALUES
  (7, 'local', 'default', 'small', 'z', 1, 250, 4, 1, 2, 'i-1', 'r-1', 'key', 3, '127.0.0.1',
   'root', 22, 'private', 'public', 'secret', 'shown', 'next', 'next secret', 2, 1, 'boot', 2, 1, 0,
   'code', 'why', 'last', 1, 2, 3, 4, 5, 0, 6);
INSERT INTO instances VALUES
  (3, 'local', 'default', 'small', 'z', 1, 250, 8, 1, 2, 'i-0', 'r-0', 'key0', 3, '127.0.0.1',
   'root', 22, '', 'public', '', 'shown', '', '', 2, 1, 'boot', 2, 1, 0,
   'code', 'gone', 'last', 1, 2, 3, 4, 5, 6, 0);
INSERT INTO creates VALUES (7, '{"idempotency_key":"key"}');
INSERT INTO gates VALUES ('a gate', 'local', 1, 6, 1, 'small', 'g', 'z', 's', 'r', -1, 99, 2, 'no');
INSERT INTO ledger VALUES (42, 1, 3, 'scheduler', 'j-5', 'ended', 'code', 'why', 41, '');
)sql";

/// What only versions from 2 on hold.
constexpr const char* kRowsOfVersion2 = R"sql(
INSERT INTO prices VALUES ('local', 'small', 'z', 1, 10, 300);
UPDATE instances SET off_us = 12, vcpus = 4, gpus = 1, ram = 8, scratch = 9;
)sql";

/// And from 3 on: work of another kind, which waits.
constexpr const char* kRowsOfVersion3 = R"sql(
INSERT INTO work VALUES (8, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
INSERT INTO work_specs VALUES
  (8, 8, 1, 0, 1024, 0, '', -1, '', 0, 0, 3, 'user ann', '', '', '', 90, 'body 8');
)sql";

class SchemaTest : public StoreFixture {
 protected:
  /// A database as a program whose newest schema was `version` left it.
  void make_database(int version) {
    store_.reset();
    const auto connection = connect(place(), Mode::kWrite);
    ASSERT_TRUE(connection) << connection.error().message;
    const auto must = [](const Result<void>& done) { EXPECT_TRUE(done) << done.error().message; };
    must(migrate(**connection, 1));
    must((*connection)->execute(kRowsOfVersion1));
    must(migrate(**connection, version));
    if (version >= 2) must((*connection)->execute(kRowsOfVersion2));
    if (version >= 3) must((*connection)->execute(kRowsOfVersion3));
  }
  void SetUp() override {
    if (GetParam() != Engine::kPostgres) return;
    if (PostgresServer::get() == nullptr) GTEST_SKIP() << PostgresServer::kMissing;
    postgres_ = PostgresServer::get()->emptied_database();
  }
};

HOSTLER_ON_BOTH_ENGINES(SchemaTest);

TEST_P(SchemaTest, KeepsEveryRowOfVersion2) {
  std::filesystem::create_directories(state());
  make_database(2);

  const auto restored = reopened();

  EXPECT_EQ(restored.owner, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(restored.epoch, 4U);
  EXPECT_EQ(restored.last_work, 9U);
  EXPECT_EQ(restored.last_arrival, 9U);
  EXPECT_EQ(restored.last_instance, 7U);
  EXPECT_EQ(restored.last_revision, 42U);

  ASSERT_EQ(restored.work.size(), 1U);
  const auto& live = restored.work[0];
  EXPECT_EQ(live.record.id, (model::WorkId{6, model::WorkKind::kJob}));
  EXPECT_EQ(live.record.state, WorkState::kRunning);
  EXPECT_EQ(live.record.started, Wall{300});
  EXPECT_EQ(live.shape.constraints.types, (std::vector<std::string>{"small", "big"}));
  EXPECT_EQ(live.shape.needs, (model::Resources{2, 1, 2048, 1}));
  EXPECT_EQ(live.principal, "user bob");
  ASSERT_EQ(restored.client_keys.size(), 1U);
  EXPECT_EQ(restored.client_keys[0].work, live.record.id);

  ASSERT_EQ(restored.attempts.size(), 1U);
  EXPECT_EQ(restored.attempts[0].attempt, (model::AttemptId{{6}, 2}));
  EXPECT_EQ(restored.attempts[0].sequence, 2U);

  ASSERT_EQ(restored.instances.size(), 1U);
  const auto& instance = restored.instances[0];
  EXPECT_EQ(instance.record.provider_id, "i-1");
  EXPECT_EQ(instance.record.identity.next_secret, "next secret");
  EXPECT_EQ(instance.record.deadline, Wall{6});
  EXPECT_EQ(instance.record.total, (model::Resources{4, 1, 8, 9}));
  EXPECT_EQ(instance.record.off_us, 12);
  EXPECT_EQ(instance.record.uses, model::kUsesUnknown) << "it had work, and nobody counted";
  ASSERT_NE(instance.create, nullptr);
  EXPECT_EQ(instance.create->idempotency_key, "key");
  ASSERT_EQ(restored.gates.size(), 1U);
  EXPECT_EQ(restored.gates[0].message, "no");
  ASSERT_EQ(restored.prices.size(), 1U);
  EXPECT_EQ(restored.prices[0].point.per_hour.value, 300);

  const auto ended = store_->reads().job({5});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(*ended->body, "body 5");
  EXPECT_EQ(ended->record.reason_text, "done");
  const auto attempt = store_->reads().attempt({{5}, 1});
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_EQ(attempt->attempt.end->text, "end");
  EXPECT_EQ(store_->reads().ledger_of("j-5", 0, 10)->items.at(0).cause_rev, 41U);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion1) {
  std::filesystem::create_directories(state());
  make_database(1);

  const auto restored = reopened();

  EXPECT_EQ(restored.last_work, 9U);
  ASSERT_EQ(restored.work.size(), 1U);
  EXPECT_EQ(restored.work[0].record.id.text(), "j-6");
  ASSERT_EQ(restored.attempts.size(), 1U);
  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].record.total, model::Resources{});
  EXPECT_THAT(restored.prices, IsEmpty());
  EXPECT_EQ(*store_->reads().job({5})->body, "body 5");
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion3AndKnowsNoAccountYet) {
  std::filesystem::create_directories(state());
  make_database(3);

  auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 2U);
  EXPECT_EQ(restored.work[0].record.id.text(), "j-6");
  EXPECT_EQ(restored.work[1].record.id.text(), "r-8");
  ASSERT_EQ(restored.attempts.size(), 1U);
  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].record.off_us, 12);
  EXPECT_EQ(restored.prices.size(), 1U);
  EXPECT_EQ(restored.gates.size(), 1U);
  EXPECT_THAT(restored.damaged, IsEmpty());
  EXPECT_THAT(restored.accounts, IsEmpty());

  must_commit({model::SetAccount{"local", "a1", "eu"}});
  EXPECT_EQ(reopened().accounts.size(), 1U);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion4AndKnowsNoUseYet) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 4));

  const auto restored = reopened();

  EXPECT_EQ(restored.work.size(), 2U);
  EXPECT_EQ(restored.instances.size(), 1U);
  EXPECT_THAT(restored.damaged, IsEmpty());
  EXPECT_THAT(restored.uses, IsEmpty());
  must_commit({model::PrincipalUse{"user bob", {7}, {100}}});
  EXPECT_EQ(reopened().uses.size(), 1U);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion7AndKnowsNoCrashYet) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 7));

  auto gates = reopened().gates;

  ASSERT_EQ(gates.size(), 1U);
  EXPECT_FALSE(gates[0].crash);
  gates[0].crash = model::DriverCrash{{"bad", "1.0", "file 1"}, "list", "died", "words"};
  must_commit({model::GateChanged{gates[0]}});
  EXPECT_EQ(reopened().gates, gates);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion8AndKnowsNoImageYet) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 8));

  const auto restored = reopened();

  EXPECT_EQ(restored.instances.size(), 1U);
  EXPECT_THAT(restored.images, IsEmpty());
  EXPECT_THAT(restored.damaged, IsEmpty());
  must_commit({model::ImageRow{"local", "name \"a*\"", {"i", "a 1", "us", "", {5}}, {7}}});
  EXPECT_EQ(reopened().images.size(), 1U);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion14WhichLendsNoHost) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 14));

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 2U);
  for (const auto& item : restored.work) {
    EXPECT_FALSE(item.shape.exclusive);
    EXPECT_THAT(item.shape.constraints.pools, IsEmpty());
  }
  EXPECT_EQ(restored.work[0].shape.constraints.types, (std::vector<std::string>{"small", "big"}));
  EXPECT_THAT(restored.leases, IsEmpty());
  EXPECT_THAT(restored.damaged, IsEmpty());
  must_commit({new_work({10, kLease}), terms_of(10)});
  EXPECT_EQ(reopened().leases.size(), 1U);
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion15WhichKnowsNoCards) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 15));

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 2U);
  EXPECT_EQ(restored.work[0].shape.needs.gpus, 1);
  EXPECT_EQ(restored.work[0].shape.constraints.gpu, model::GpuWish{});
  ASSERT_EQ(restored.attempts.size(), 1U);
  EXPECT_THAT(restored.attempts[0].cards, IsEmpty());
  EXPECT_THAT(restored.damaged, IsEmpty());
}

TEST_P(SchemaTest, KeepsEveryRowOfVersion17WhichKnowsNoPushers) {
  std::filesystem::create_directories(state());
  make_database(3);
  ASSERT_TRUE(migrate(*connect(place(), Mode::kWrite).value(), 17));

  const auto restored = reopened();

  ASSERT_EQ(restored.instances.size(), 1U);
  EXPECT_EQ(restored.instances[0].record.agent, model::AgentReport::kNone);
  EXPECT_EQ(restored.instances[0].record.agent_since, Wall{});
  EXPECT_THAT(restored.pushers, IsEmpty());
  EXPECT_THAT(restored.damaged, IsEmpty());
}

/// What version 12 noted of calls: a call under way, one that was also counted at a start, one
/// whose count had a start alone, a crash that was seen, and a gate that is shut.
constexpr const char* kCallsOfVersion12 = R"sql(
INSERT INTO gates (key, set_name, op, cls, scope, type, quota_group, zone, subnet, region, market,
  until_us, failures, message, under_way, has_crash, ending) VALUES
  ('under way', 's', 1, 15, 1, '', '', '', '', '', -1, 0, 0, 'm', 1, 1, ''),
  ('under way again', 's', 1, 15, 1, '', '', '', '', '', -1, 0, 1, 'm', 1, 1, 'was ended'),
  ('counted', 's', 1, 15, 1, '', '', '', '', '', -1, 0, 1, 'm', 0, 1,
   'may have ended hostlerd, which died'),
  ('seen', 's', 1, 15, 1, '', '', '', '', '', -1, 0, 1, 'm', 0, 1, 'was ended'),
  ('shut', 's', 1, 15, 1, '', '', '', '', '', -1, 99, 2, 'm', 1, 1,
   'may have ended hostlerd, which died');
)sql";

TEST_P(SchemaTest, CallsThatWereUnderWayAreForgottenAndGatesStay) {
  std::filesystem::create_directories(state());
  store_.reset();
  {
    const auto connection = connect(place(), Mode::kWrite).value();
    ASSERT_TRUE(migrate(*connection, 12));
    ASSERT_TRUE(connection->execute(kCallsOfVersion12));
  }

  std::set<std::string> left;
  for (const auto& gate : reopened().gates) left.insert(gate.key);

  EXPECT_THAT(left, testing::ElementsAre("seen", "shut"));
}

TEST_P(SchemaTest, TakesUpWorkOfANewKindAfterTheMigration) {
  std::filesystem::create_directories(state());
  make_database(2);
  open();
  must_commit({new_work({10, kLease}), terms_of(10), job_in(6, WorkState::kSucceeded)});

  const auto restored = reopened();

  ASSERT_EQ(restored.work.size(), 1U);
  EXPECT_EQ(restored.work[0].record.id.text(), "l-10");
  EXPECT_EQ(restored.last_work, 10U);
}

// ---- limits of time
// -----------------------------------------------------------------------------

/// A connection that notes how long it waits when statements are executed on it.
class Watched final : public Connection {
 public:
  explicit Watched(std::unique_ptr<Connection> of) : of_(std::move(of)) {}
  [[nodiscard]] Engine engine() const override { return of_->engine(); }
  Result<Statement> prepare(std::string_view sql) override { return of_->prepare(sql); }
  void set_on_silence(std::function<void(const std::string&)> on_silence) override {
    of_->set_on_silence(std::move(on_silence));
  }
  Result<void> check() override { return of_->check(); }
  void set_patience(Patience patience) override {
    now = patience;
    of_->set_patience(patience);
  }
  Result<void> execute(const std::string& sql) override {
    if (sql.find("ALTER TABLE") != std::string::npos) during.push_back(now);
    return of_->execute(sql);
  }
  Result<void> begin() override { return of_->begin(); }
  Result<void> commit() override {
    during.push_back(now);
    return of_->commit();
  }
  void roll_back() override { of_->roll_back(); }
  Result<bool> was_committed() override { return of_->was_committed(); }
  Result<void> after_commit() override { return of_->after_commit(); }
  Result<bool> do_idle_work() override { return of_->do_idle_work(); }
  Result<std::uint64_t> used_bytes() override { return of_->used_bytes(); }

  Patience now = Patience::kLong;
  std::vector<Patience> during;  ///< A migration, and the commit.

 private:
  std::unique_ptr<Connection> of_;
};

std::string value_of(Connection& connection, const std::string& sql) {
  auto find = connection.prepare(sql);
  return find && find->next().value_or(false) ? find->text(0) : "none";
}

// Bug: an upgrade that took the server longer than half a minute failed, at each start again.
TEST_P(SchemaTest, AMigrationMayTakeAsLongAsItTakes) {
  std::filesystem::create_directories(state());
  make_database(3);
  Watched connection(connect(place(), Mode::kWrite).value());

  ASSERT_TRUE(migrate(connection));

  EXPECT_THAT(connection.during, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(connection.during, testing::Each(Patience::kEndless));
  EXPECT_EQ(connection.now, Patience::kLong);
  // Where there is nothing to migrate, the limit stays.
  connection.during.clear();
  ASSERT_TRUE(migrate(connection));
  EXPECT_THAT(connection.during, testing::ElementsAre(Patience::kLong));
}

// Bug: it had a minute for each statement, and looked up most rows of a table one by one.
TEST_P(SchemaTest, TheServerLimitsAMigrationNeitherInTimeNorInItsPlan) {
  if (!on_postgres()) return;  // SQLite has no such limits
  std::filesystem::create_directories(state());
  make_database(3);
  const auto connection = connect(place(), Mode::kWrite).value();
  const std::string limits =
      "current_setting('statement_timeout') || ' ' || current_setting('enable_seqscan')";
  const auto usual = value_of(*connection, "SELECT " + limits);
  ASSERT_TRUE(connection->execute(
      "CREATE TABLE seen (limits TEXT); CREATE FUNCTION see() RETURNS trigger AS 'BEGIN "
      "INSERT INTO seen VALUES (current_setting(''statement_timeout'') || '' '' || "
      "current_setting(''enable_seqscan'')); RETURN NULL; END' LANGUAGE plpgsql; "
      "CREATE TRIGGER see AFTER UPDATE ON instances EXECUTE FUNCTION see()"));

  ASSERT_TRUE(migrate(*connection));

  EXPECT_EQ(value_of(*connection, "SELECT limits FROM seen"), "0 on");
  EXPECT_EQ(value_of(*connection, "SELECT " + limits), usual);
  EXPECT_EQ(usual, "1min off");
}

}  // namespace
}  // namespace hostler::store
