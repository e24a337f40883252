#include "core/store/postgres/connection.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/crypto/random.h"
#include "core/store/meta.h"
#include "core/store/postgres/failures.h"
#include "core/store/postgres/setup.h"

namespace hostler::store::postgres {
namespace {

constexpr int kConnectS = 3, kReadConnectS = 2;

int answer_ms(Patience patience) {
  switch (patience) {
    case Patience::kShort:
      return 5'000;
    case Patience::kLong:
      return 30'000;
    case Patience::kEndless:
      break;
  }
  return -1;
}

// The mark of the last commit, in meta.
constexpr const char* kMarkKey = "last_commit";
// $1: the new mark, $2: that of the commit before. If the row has another one, the new value is
// NULL, which the table refuses.
const std::string kPutMark = std::string("INSERT INTO meta (key, value) VALUES ('") + kMarkKey +
                             "', CASE WHEN $2::text = '' OR EXISTS (SELECT 1 FROM meta WHERE key "
                             "= '" +
                             kMarkKey +
                             "') THEN $1::text END) ON CONFLICT (key) DO UPDATE "
                             "SET value = CASE WHEN meta.value = $2 THEN excluded.value END";
const std::string kOfMark = std::string(" WHERE key = '") + kMarkKey + "'";
const std::string kFindMark = "SELECT value FROM meta" + kOfMark;
// Returns only after all earlier commits are durable, on standbys too if commits wait for them.
const std::string kCommitAnew = "UPDATE meta SET value = value" + kOfMark;

constexpr const char* kNotAsLeft =
    "the database is not as this hostlerd left it: another one has written to it, a backup was "
    "restored under it, or the server lost commits, as after a fail-over to a standby that lagged "
    "behind";

/// What kPutMark says where another mark is.
bool is_foreign_mark(const PGresult& result) {
  const char* table = PQresultErrorField(&result, PG_DIAG_TABLE_NAME);
  return sqlstate_of(&result) == "23502" && table != nullptr && std::string_view(table) == "meta";
}

/// The tables were dropped, as a restore does.
bool is_missing_table(std::string_view sqlstate) {
  return sqlstate == "42P01" || sqlstate == "3F000";
}

// Number of rows times their mean width, as the files of a table do not shrink when rows are
// removed. The number is some seconds old, and too low for a while after a crash of the server.
constexpr const char* kUsedBytes =
    "SELECT COALESCE(SUM(CASE WHEN c.reltuples < 0 THEN pg_total_relation_size(c.oid) ELSE "
    "LEAST(pg_total_relation_size(c.oid), "
    "(COALESCE(NULLIF(pg_stat_get_live_tuples(c.oid), 0), c.reltuples) * (40 + COALESCE("
    "(SELECT SUM(s.avg_width) FROM pg_stats s WHERE s.schemaname = 'hostler' "
    "AND s.tablename = c.relname), 0)) * 1.5 + GREATEST(COALESCE("
    "NULLIF(pg_stat_get_live_tuples(t.oid), 0), t.reltuples), 0) * 2048)::bigint) END), 0)"
    "::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "LEFT JOIN pg_class t ON t.oid = c.reltoastrelid "
    "WHERE n.nspname = 'hostler' AND c.relkind = 'r'";

/// At most 63 bytes of ASCII: the server would change any other name.
std::string session_name(Mode mode) {
  std::array<char, 64> buffer{};
  (void)::gethostname(buffer.data(), buffer.size() - 1);
  auto host = std::string(buffer.data()).substr(0, 24);
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  return "hostlerd " + std::to_string(::getpid()) + " on " + host +
         (mode == Mode::kRead ? " reads" : " " + crypto::random_hex(4));
}

}  // namespace

PostgresConnection::PostgresConnection(std::string conninfo, Mode mode,
                                       std::shared_ptr<Refusal> refusal)
    : conninfo_(std::move(conninfo)),
      mode_(mode),
      name_(session_name(mode)),
      refusal_(std::move(refusal)),
      patience_(mode == Mode::kWrite ? Patience::kLong : Patience::kShort) {}

void PostgresConnection::set_patience(Patience patience) {
  patience_ = patience;
  if (session_) session_->set_answer_ms(answer_ms(patience));
}

void PostgresConnection::set_on_silence(std::function<void(const std::string&)> on_silence) {
  on_silence_ = std::move(on_silence);
  if (session_) session_->set_on_silence(on_silence_);
}

// ---- sessions -----------------------------------------------------------------------------------

Result<void> PostgresConnection::ensure_session() {
  if (session_ && session_->is_alive()) return {};
  // Readers must not wait for an absent server one after the other.
  if (mode_ == Mode::kRead)
    if (auto refused = refusal_->current()) {
      failure_ = Failure::kTransient;
      return tl::unexpected(*std::move(refused));
    }
  session_.reset();
  prepared_.clear();
  queued_ = queued_bytes_ = 0;
  reader_ = nullptr;
  const auto begin = Refusal::Clock::now();
  auto session = new_session();
  if (session) {
    refusal_->clear();
    session_ = *std::move(session);
    return {};
  }
  if (failure_ != Failure::kLost) failure_ = Failure::kTransient;
  auto error = std::move(session).error().with_context("PostgreSQL");
  refusal_->set(error, Refusal::Clock::now() - begin);
  return tl::unexpected(std::move(error));
}

Result<std::unique_ptr<Session>> PostgresConnection::new_session() {
  auto session = HOSTLER_TRY(Session::open(
      conninfo_, name_, mode_ == Mode::kWrite ? kConnectS : kReadConnectS, answer_ms(patience_)));
  session->set_on_silence(on_silence_);
  HOSTLER_TRY(set_up(*session, mode_));
  if (mode_ == Mode::kRead) return session;
  auto taken = take_database(*session, name_);
  if (!taken && taken.error().code == Errc::kConflict && last_.mark)
    return tl::unexpected(database_lost(taken.error().message));
  HOSTLER_TRY(std::move(taken));
  HOSTLER_TRY(make_schema(*session));
  HOSTLER_TRY(compare_mark(*session));
  return session;
}

/// This session holds the lock on the database, so commits of earlier sessions have ended. A
/// standby that commits wait for may lack the last one, if its session ended while it waited.
Result<void> PostgresConnection::compare_mark(Session& session) {
  const bool has_table = !HOSTLER_TRY(session.value("SELECT to_regclass('meta')")).empty();
  const auto found = has_table ? HOSTLER_TRY(session.value(kFindMark)) : std::string();
  if (!last_.mark) {
    last_.mark = found;
    return {};
  }
  const bool is_there = !last_.pending_mark.empty() && found == last_.pending_mark;
  if (is_there) HOSTLER_TRY(session.value(kCommitAnew));
  last_.was_committed = is_there;
  if (is_there) last_.mark = last_.pending_mark;
  last_.pending_mark.clear();
  if (found == last_.mark) return {};
  return tl::unexpected(database_lost(kNotAsLeft));
}

Result<bool> PostgresConnection::was_committed() {
  HOSTLER_TRY(ensure_session());
  return last_.was_committed;
}

Result<void> PostgresConnection::check() {
  HOSTLER_TRY(ensure_session());
  const auto found = session_->execute(kFindMark);
  if (!found) return tl::unexpected(connection_failed("check"));
  if (PQresultStatus(found.get()) == PGRES_FATAL_ERROR)
    return tl::unexpected(statement_failed(*found, "check"));
  const char* const mark = PQntuples(found.get()) == 0 ? "" : PQgetvalue(found.get(), 0, 0);
  if (mark == last_.mark) return {};
  return tl::unexpected(database_lost(kNotAsLeft));
}

Result<void> PostgresConnection::need_session() {
  if (!in_transaction_) return ensure_session();
  if (session_ && !session_->broken()) return {};
  return tl::unexpected(connection_failed("transaction"));
}

// ---- transactions -------------------------------------------------------------------------------

Result<void> PostgresConnection::begin() {
  HOSTLER_TRY(ensure_session());
  in_transaction_ = true;
  last_.end = End::kOpen;
  HOSTLER_TRY(queue("BEGIN", nullptr, {}));
  // First, so that a foreign mark is told before what else does not fit foreign rows. Where there
  // is no mark yet, this transaction may make the table.
  return last_.mark && !last_.mark->empty() ? put_mark() : Result<void>();
}

Result<void> PostgresConnection::put_mark() {
  last_.next_mark = name_ + " " + std::to_string(++last_.commits);
  return run(kPutMark, {last_.next_mark.c_str(), last_.mark->c_str()});
}

Result<void> PostgresConnection::commit() {
  if (last_.mark && last_.mark->empty()) HOSTLER_TRY(put_mark());
  last_.pending_mark = last_.next_mark;
  auto done = queue("COMMIT", nullptr, {});
  if (done) done = drain();
  if (last_.end == End::kOpen) {  // neither an answer nor an error that ended the transaction
    session_->give_up();
    failure_ = Failure::kUnknown;
    return fail(Errc::kOutcomeUnknown,
                "the answer to COMMIT was lost" + (done ? "" : ": " + done.error().message));
  }
  last_.pending_mark.clear();
  if (last_.end == End::kRolledBack) {
    if (done) return tl::unexpected(connection_failed("COMMIT rolled back"));
    return done;
  }
  in_transaction_ = false;
  failure_ = Failure::kNone;  // the session may have ended just after it
  last_.mark = last_.next_mark;
  return {};
}

void PostgresConnection::roll_back() {
  const Failure kept = failure_;
  in_transaction_ = false;
  if (session_ && !session_->broken()) {
    drop_rows();
    (void)drain();
    if (PQtransactionStatus(session_->get()) != PQTRANS_IDLE) (void)session_->execute("ROLLBACK");
    if (PQtransactionStatus(session_->get()) != PQTRANS_IDLE) session_->give_up();
  }
  failure_ = kept;
}

Result<std::uint64_t> PostgresConnection::used_bytes() {
  auto select = HOSTLER_TRY(prepare(kUsedBytes));
  const bool any = HOSTLER_TRY(select.next());
  const auto bytes = any ? static_cast<std::uint64_t>(select.i64(0)) : 0;
  select.rewind();
  return bytes;
}

// ---- failures -----------------------------------------------------------------------------------

Error PostgresConnection::statement_failed(const PGresult& result, std::string_view doing) {
  const auto code = sqlstate_of(&result);
  const bool is_foreign =
      is_foreign_mark(result) || (last_.mark && !last_.mark->empty() && is_missing_table(code));
  if (mode_ == Mode::kWrite && is_foreign) return database_lost(kNotAsLeft);
  failure_ = failure_of(code);
  if (ends_session(code)) session_->give_up();
  return error_of(&result, doing);
}

Error PostgresConnection::connection_failed(std::string_view doing) {
  failure_ = Failure::kTransient;
  if (session_) session_->give_up();
  return {Errc::kUnavailable, "PostgreSQL: " + std::string(doing) + ": " +
                                  (session_ ? session_->message() : "there is no session")};
}

Error PostgresConnection::database_lost(std::string why) {
  failure_ = Failure::kLost;
  why_lost_ = "PostgreSQL: " + why;
  return {Errc::kConflict, std::move(why)};
}

}  // namespace hostler::store::postgres
