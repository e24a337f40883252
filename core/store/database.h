#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/error.h"

/// The interface of a database engine. There are two engines: sqlite/ and postgres/. Statements are
/// written once for both: parameters are $1, $2, ... and first appear in that order; values are
/// int64 and text, and NULL only where an outer join finds no row.
namespace hostler::store {

/// The class of a failure: it decides what the store does next. The Error has the text for people.
enum class Failure : std::uint8_t {
  kNone,
  kTransient,     ///< Locked, disk full, server away: it had no effect, so try again.
  kUnknown,       ///< The answer to a COMMIT did not arrive: ask Connection::was_committed().
  kLost,          ///< fsync failed, or another daemon uses the database: the process must end.
  kProgramError,  ///< A broken constraint, misuse, a value too large: a bug in hostlerd.
};

enum class Engine : std::uint8_t { kSqlite, kPostgres };
enum class Mode : std::uint8_t { kWrite, kRead };
/// How long to wait for a server that does not answer: some seconds, half a minute, or as long as
/// the connection to it lives.
enum class Patience : std::uint8_t { kShort, kLong, kEndless };
using Value = std::variant<std::int64_t, std::string>;
/// Read where a column holds no integer: NULL, or what an admin wrote there.
inline constexpr std::int64_t kNoNumber = INT64_MIN;

/// One prepared statement. The arguments are bound in order, then the rows are read:
///
///     HOSTLER_TRY(find.start(id.value));
///     while (HOSTLER_TRY(find.next())) use(find.i64(0), find.text(1));
///
/// Threads: as its Connection, which must outlive it. Starting another statement of the connection
/// drops the rows that were not read yet.
class Statement {
 public:
  /// The part that an engine implements. Parameters count from 1, columns from 0.
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

  /// Binds the arguments to $1, $2, ...: integers, bool, enums, texts. Texts must live until the
  /// rows are read.
  template <class... Args>
  Result<void> start(const Args&... args) {
    rows_->rewind();
    int index = 0;
    (bind(++index, args), ...);
    return {};
  }
  /// Likewise, if the number of parameters is known at run time only.
  Result<void> start_with(std::span<const Value> values) {
    rows_->rewind();
    int index = 0;
    for (const Value& value : values)
      std::visit([&](const auto& one) { bind(++index, one); }, value);
    return {};
  }
  /// Binds, runs to the end and drops the rows. Within a transaction an engine may delay the
  /// statement: a later call then returns its failure, the commit at the latest.
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
  /// Drops the rows that were not read, and with them the snapshot of the database that they hold.
  void rewind() { rows_->rewind(); }
  /// True: a row can be read. False: no more; the statement may be started anew.
  Result<bool> next() { return rows_->next(); }

  [[nodiscard]] std::int64_t i64(int column) const { return rows_->number(column); }
  [[nodiscard]] std::string text(int column) const { return std::string(view(column)); }
  /// Valid until the next row.
  [[nodiscard]] std::string_view view(int column) const { return rows_->text(column); }

 private:
  std::unique_ptr<Rows> rows_;
};

/// One connection. Threads: one at a time. Every call blocks. SQLite: on the disk, and for a second
/// or two on another process's lock. PostgreSQL: on the server, mostly for one round trip; if the
/// server does not answer, as long as Patience says, and before that 2 s (kWrite: 3 s) for a new
/// session.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] virtual Engine engine() const = 0;
  virtual Result<Statement> prepare(std::string_view sql) = 0;
  /// kWrite has kLong. kRead begins with kShort, as people wait for reads.
  virtual void set_patience(Patience patience) = 0;
  /// `on_silence` is called, with a text for people, each time that the server has not answered for
  /// 3 s; the call that waits for it goes on. SQLite: never called.
  virtual void set_on_silence(std::function<void(const std::string&)> on_silence) = 0;
  /// Any number of statements without parameters.
  virtual Result<void> execute(const std::string& sql) = 0;

  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  /// Ends a transaction, unless its failure ended it already; failure() stays as it is.
  virtual void roll_back() = 0;
  /// After a commit() that failed with kUnknown: whether it took effect. An error: not known yet;
  /// ask again before anything else is written.
  virtual Result<bool> was_committed() = 0;

  /// The writer calls it after each commit, once the callbacks were called.
  virtual Result<void> after_commit() = 0;
  /// PostgreSQL: opens a new session if the last one ended, and asks the server whether the
  /// database is as this process left it (kLost if not). An error: a commit would fail as well.
  /// SQLite: does nothing. Not within a transaction.
  virtual Result<void> check() = 0;
  /// Work for idle times. SQLite: removes erased data from the files for good. PostgreSQL: none.
  /// True: call check() and this again in a second.
  virtual Result<bool> do_idle_work() = 0;
  /// About the size of rows and indexes, without free space. PostgreSQL notices removed rows some
  /// seconds later.
  virtual Result<std::uint64_t> used_bytes() = 0;

  /// The class of the last failure since clear_failure().
  [[nodiscard]] Failure failure() const { return failure_; }
  void clear_failure() { failure_ = Failure::kNone; }
  /// With kLost: what happened, and what to do.
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }

 protected:
  Connection() = default;
  Failure failure_ = Failure::kNone;
  std::string why_lost_;
};

/// Runs `body` between BEGIN and COMMIT. After a failure nothing of it is in the database (but see
/// kUnknown), and connection.failure() has its class (kNone: `body` itself returned the error).
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
