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

constexpr int kConnectS = 5, kReadConnectS = 2;

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
const std::string kPutMark(kPutMeta);
const std::string kOfMark = std::string(" WHERE key = '") + kMarkKey + "'";
const std::string kFindMark = "SELECT value FROM meta" + kOfMark;
// Returns only after all earlier commits are durable, on standbys too if commits wait for them.
const std::string kCommitAnew = "UPDATE meta SET value = value" + kOfMark;

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
  HOSTLER_TRY(set_up(*session, mode_));
  if (mode_ == Mode::kRead) return session;
  auto taken = take_database(*session, name_);
  if (!taken && taken.error().code == Errc::kConflict && !mark_.empty())
    return tl::unexpected(database_lost(taken.error().message));
  HOSTLER_TRY(std::move(taken));
  HOSTLER_TRY(make_schema(*session));
  HOSTLER_TRY(compare_mark(*session));
  return session;
}

/// This session holds the lock on the database, so commits of earlier sessions have ended. A
/// standby that commits wait for may lack the last one, if its session ended while it waited.
Result<void> PostgresConnection::compare_mark(Session& session) {
  if (mark_.empty()) return {};
  const auto found = HOSTLER_TRY(session.value(kFindMark));
  const bool is_there = !pending_mark_.empty() && found == pending_mark_;
  if (is_there) HOSTLER_TRY(session.value(kCommitAnew));
  was_committed_ = is_there;
  if (is_there) mark_ = pending_mark_;
  pending_mark_.clear();
  if (found == mark_) return {};
  return tl::unexpected(database_lost(
      "the database is not as this hostlerd left it: another one has written to it, or the "
      "server lost commits, as after a fail-over to a standby that lagged behind"));
}

Result<bool> PostgresConnection::was_committed() {
  HOSTLER_TRY(ensure_session());
  return was_committed_;
}

Result<bool> PostgresConnection::do_idle_work() {
  HOSTLER_TRY(ensure_session());
  return true;
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
  end_ = End::kOpen;
  return queue("BEGIN", nullptr, {});
}

Result<void> PostgresConnection::commit() {
  const auto mark = name_ + " " + std::to_string(++commits_);
  HOSTLER_TRY(run(kPutMark, {kMarkKey, mark.c_str()}));
  pending_mark_ = mark;
  auto done = queue("COMMIT", nullptr, {});
  if (done) done = drain();
  if (end_ == End::kOpen) {  // neither an answer nor an error that ended the transaction
    session_->give_up();
    failure_ = Failure::kUnknown;
    return fail(Errc::kOutcomeUnknown,
                "the answer to COMMIT was lost" + (done ? "" : ": " + done.error().message));
  }
  pending_mark_.clear();
  if (end_ == End::kRolledBack) {
    if (done) return tl::unexpected(connection_failed("COMMIT rolled back"));
    return done;
  }
  in_transaction_ = false;
  failure_ = Failure::kNone;  // the session may have ended just after it
  mark_ = mark;
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
