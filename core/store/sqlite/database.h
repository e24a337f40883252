#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

/// The only code that calls SQLite. Statements and their parameters are written so that PostgreSQL
/// takes the same text: parameters are $1, $2, ... and first appear in that order.
namespace hostler::store::sqlite {

/// What a failure asks of the store; the Error beside it is for people.
enum class Failure : std::uint8_t {
  kNone,
  kPassing,  ///< Locked, disk full, I/O: had no effect; try again.
  kSync,     ///< fsync failed: what is on disk is not known any more; the process must end.
  kOurs,     ///< A broken constraint or misuse: a mistake in this program.
};

using Value = std::variant<std::int64_t, std::string>;

/// One prepared statement. Bind in order by arguments, then read the rows:
///
///     HOSTLER_TRY(find.start(job.value));
///     while (HOSTLER_TRY(find.next())) use(find.i64(0), find.text(1));
///
/// Threads: those of its Connection, which must outlive it.
class Statement {
 public:
  /// Binds the arguments to $1, $2, ...: integers, bool, anything a string_view is made of. Texts
  /// must live until the rows are read.
  template <class... Args>
  Result<void> start(const Args&... args) {
    rewind();
    int index = 0;
    (bind(++index, args), ...);
    return {};
  }
  /// The same with parameters whose number is known at run time only.
  Result<void> start_with(std::span<const Value> values);
  /// Binds, runs to the end, drops what rows there are.
  template <class... Args>
  Result<void> run(const Args&... args) {
    HOSTLER_TRY(start(args...));
    while (HOSTLER_TRY(next())) {
    }
    return {};
  }
  /// Lets go of rows that were not read, and with them of the view of the database they hold.
  void rewind();
  /// True: a row can be read. False: no more; the statement may be started anew.
  Result<bool> next();

  [[nodiscard]] std::int64_t i64(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string(view(column)); }
  /// Good until the next row.
  [[nodiscard]] std::string_view view(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, Failure* failure) : statement_(statement), failure_(failure) {}

  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void bind(int index, T value) { bind_i64(index, static_cast<std::int64_t>(value)); }
  void bind_i64(int index, std::int64_t value);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  Failure* failure_;  ///< The connection's.
};

enum class Mode : std::uint8_t { kWrite, kRead };

/// One connection. Threads: one at a time. Blocking: every call, up to `busy_ms` on a lock.
class Connection {
 public:
  /// WAL, synchronous=FULL, secure_delete. The file is made (0600) in kWrite.
  static Result<Connection> open(const std::filesystem::path& file, Mode mode, int busy_ms);

  Result<Statement> prepare(std::string_view sql);
  /// Any number of statements without parameters.
  Result<void> execute(const std::string& sql);
  /// Moves the log into the database once it is longer than some 32 MiB. Whoever writes calls it
  /// after a commit, when nobody waits.
  Result<void> shorten_log();
  /// Moves all of the log into the database and cuts it to nothing, if no reader is in the way.
  Result<void> truncate_log();

  /// What the rows and indexes take, without pages that are free for new ones.
  Result<std::uint64_t> used_bytes();

  /// What the last failed call asks for; kNone after clear_failure() if none has failed since.
  [[nodiscard]] Failure failure() const { return *failure_; }
  void clear_failure() { *failure_ = Failure::kNone; }
  /// Ends a transaction that a failure has not ended by itself; failure() stays as it is.
  void roll_back();

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  explicit Connection(sqlite3* db) : db_(db) {}

  std::unique_ptr<sqlite3, Close> db_;
  // Where Statements and SQLite find them when the Connection has moved.
  std::unique_ptr<Failure> failure_ = std::make_unique<Failure>(Failure::kNone);
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);
};

/// Runs `body` between BEGIN and COMMIT; on any failure nothing of it stays, and
/// connection.failure() says what it asks for (kNone: `body` failed for a reason of its own).
template <class Body>
Result<void> in_one_transaction(Connection& connection, Body body) {
  connection.clear_failure();
  auto result = [&]() -> Result<void> {
    HOSTLER_TRY(connection.execute("BEGIN IMMEDIATE"));
    HOSTLER_TRY(body());
    return connection.execute("COMMIT");
  }();
  if (!result) connection.roll_back();
  return result;
}

}  // namespace hostler::store::sqlite
