#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/error.h"

/// What the store asks of a database. Two engines give it: sqlite/ and postgres/. Statements are
/// written once for both: parameters are $1, $2, ... and first appear in that order; values are
/// int64 and text, and NULL only where an outer join finds no row.
namespace hostler::store {

/// What a failure asks of the store; the Error beside it is for people.
enum class Failure : std::uint8_t {
  kNone,
  kPassing,  ///< Locked, disk full, server gone: had no effect; try again.
  kUnknown,  ///< The answer to a COMMIT was lost: Connection::was_committed() finds out.
  kLost,     ///< A failed fsync, or another daemon has the database: the process must end.
  kOurs,     ///< A broken constraint, misuse, too large for it: a mistake in this program.
};

enum class Engine : std::uint8_t { kSqlite, kPostgres };
enum class Mode : std::uint8_t { kWrite, kRead };
/// How long a server is waited for that says nothing: some seconds, half a minute.
enum class Patience : std::uint8_t { kShort, kLong };
using Value = std::variant<std::int64_t, std::string>;
/// Read where a column holds no integer: NULL, or what an admin wrote there.
inline constexpr std::int64_t kNoNumber = INT64_MIN;

/// One prepared statement. Bind in order by arguments, then read the rows:
///
///     HOSTLER_TRY(find.start(id.value));
///     while (HOSTLER_TRY(find.next())) use(find.i64(0), find.text(1));
///
/// Threads: those of its Connection, which must outlive it. Rows that are left to read are lost
/// when another statement of that connection is started.
class Statement {
 public:
  /// An engine's part. Parameters count from 1, columns from 0.
  class Rows {
   public:
    Rows() = default;
    virtual ~Rows() = default;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    virtual void bind_number(int index, std::int64_t value) = 0;
    virtual void bind_text(int index, std::string_view value) = 0;
    virtual Result<bool> next() = 0;
    virtual Result<void> finish() = 0;
    virtual void rewind() = 0;
    [[nodiscard]] virtual std::int64_t number(int column) const = 0;
    [[nodiscard]] virtual std::string_view text(int column) const = 0;
  };
  explicit Statement(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}

  /// Binds the arguments to $1, $2, ...: integers, bool, anything a string_view is made of. Texts
  /// must live until the rows are read.
  template <class... Args>
  Result<void> start(const Args&... args) {
    rows_->rewind();
    int index = 0;
    (bind(++index, args), ...);
    return {};
  }
  /// The same with parameters whose number is known at run time only.
  Result<void> start_with(std::span<const Value> values) {
    rows_->rewind();
    int index = 0;
    for (const Value& value : values)
      std::visit([&](const auto& one) { bind(++index, one); }, value);
    return {};
  }
  /// Binds, runs to the end, drops what rows there are. Within a transaction an engine may put it
  /// off: a failure then shows at a later call, the commit at the latest.
  template <class... Args>
  Result<void> run(const Args&... args) {
    HOSTLER_TRY(start(args...));
    return rows_->finish();
  }
  Result<void> run_with(std::span<const Value> values) {
    HOSTLER_TRY(start_with(values));
    return rows_->finish();
  }
  /// Binding one value after the other: rewind(), bind() for each parameter from 1 on, run_bound().
  /// Texts must live until run_bound() has returned.
  void bind(int index, std::string_view value) { rows_->bind_text(index, value); }
  void bind(int index, const std::string& value) { rows_->bind_text(index, value); }
  void bind(int index, const char* value) { rows_->bind_text(index, value); }
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void bind(int index, T value) { rows_->bind_number(index, static_cast<std::int64_t>(value)); }
  /// As run().
  Result<void> run_bound() { return rows_->finish(); }
  /// Lets go of rows that were not read, and with them of the view of the database they hold.
  void rewind() { rows_->rewind(); }
  /// True: a row can be read. False: no more; the statement may be started anew.
  Result<bool> next() { return rows_->next(); }

  [[nodiscard]] std::int64_t i64(int column) const { return rows_->number(column); }
  [[nodiscard]] std::string text(int column) const { return std::string(view(column)); }
  /// Good until the next row.
  [[nodiscard]] std::string_view view(int column) const { return rows_->text(column); }

 private:
  std::unique_ptr<Rows> rows_;
};

/// One connection. Threads: one at a time. Blocking: every call. SQLite: on the disk, and on
/// another process's lock for a second or two. PostgreSQL: on the server, a round trip as a rule;
/// one that is away for as long as Patience says, and first for 2 s (kWrite: 5 s) to begin a
/// session anew.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] virtual Engine engine() const = 0;
  virtual Result<Statement> prepare(std::string_view sql) = 0;
  /// kWrite has kLong, kRead begins with kShort: people wait for what it reads.
  virtual void set_patience(Patience patience) = 0;
  /// Any number of statements without parameters.
  virtual Result<void> execute(const std::string& sql) = 0;

  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  /// Ends a transaction that a failure has not ended by itself; failure() stays as it is.
  virtual void roll_back() = 0;
  /// After a commit() that failed as kUnknown: whether it had its effect after all. An error: not
  /// known yet; ask again before anything else is written.
  virtual Result<bool> was_committed() = 0;

  /// Whoever writes calls it after a commit, when nobody waits.
  virtual Result<void> after_commit() = 0;
  /// What is done while nothing is written. SQLite: what was erased leaves the files for good.
  /// PostgreSQL: a session that ended is begun anew. True: call it again in a second.
  virtual Result<bool> rest() = 0;
  /// What the rows and indexes take, about, without room that is free for new ones. PostgreSQL
  /// takes some seconds to notice what went.
  virtual Result<std::uint64_t> used_bytes() = 0;

  /// What the last failed call asks for; kNone after clear_failure() if none has failed since.
  [[nodiscard]] Failure failure() const { return failure_; }
  void clear_failure() { failure_ = Failure::kNone; }
  /// With kLost: what has happened, and what to do.
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }

 protected:
  Connection() = default;
  Failure failure_ = Failure::kNone;
  std::string why_lost_;
};

/// Runs `body` between BEGIN and COMMIT; on any failure nothing of it stays (but see kUnknown), and
/// connection.failure() says what it asks for (kNone: `body` failed for a reason of its own).
template <class Body>
Result<void> in_one_transaction(Connection& connection, Body body) {
  connection.clear_failure();
  auto result = [&]() -> Result<void> {
    HOSTLER_TRY(connection.begin());
    HOSTLER_TRY(body());
    return connection.commit();
  }();
  if (!result) connection.roll_back();
  return result;
}

}  // namespace hostler::store
