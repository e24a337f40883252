#include "core/store/sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/base/files.h"

namespace hostler::store::sqlite {
namespace {

constexpr int kLogPagesMax = 8000;  ///< Of 4 KiB.

const char* advice(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process holds the database: close it";
    case SQLITE_FULL:
      return "; the disk is full: make room in the state folder's file system";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged: stop hostlerd and restore it from a backup, or move it aside";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "; check the owner and the mode of the state folder";
    default:
      return "";
  }
}

Failure failure_of(int code) {
  if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return Failure::kLost;
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
      return Failure::kProgramError;
    default:
      return Failure::kTransient;
  }
}

Error error_of(sqlite3* db, std::string_view doing, Failure& failure) {
  const int code = sqlite3_extended_errcode(db);
  failure = failure_of(code);
  const int primary = code & 0xff;
  const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
  return {failure == Failure::kTransient && !damaged ? Errc::kUnavailable : Errc::kInternal,
          std::string(doing) + ": " + sqlite3_errmsg(db) + advice(code)};
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
struct Close {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};

class SqliteRows final : public Statement::Rows {
 public:
  SqliteRows(sqlite3_stmt* statement, Failure& failure)
      : statement_(statement), failure_(failure) {}

  void bind_number(int index, std::int64_t value) override {
    sqlite3_bind_int64(statement_.get(), index, value);
  }
  void bind_text(int index, std::string_view value) override {
    // A null pointer would bind NULL; every text column is NOT NULL.
    sqlite3_bind_text64(statement_.get(), index, value.data() != nullptr ? value.data() : "",
                        value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  Result<bool> next() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
      rewind();
      return false;
    }
    auto error = error_of(sqlite3_db_handle(statement_.get()),
                          std::string_view(sqlite3_sql(statement_.get())).substr(0, 60), failure_);
    rewind();
    return tl::unexpected(std::move(error));
  }
  Result<void> finish() override {
    while (HOSTLER_TRY(next())) {
    }
    return {};
  }
  void rewind() override { sqlite3_reset(statement_.get()); }

  [[nodiscard]] std::int64_t number(int column) const override {
    // SQLite lets others write text into a column of integers.
    return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER
               ? sqlite3_column_int64(statement_.get(), column)
               : kNoNumber;
  }
  [[nodiscard]] std::string_view text(int column) const override {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (text == nullptr) return {};
    return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }

 private:
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  Failure& failure_;  ///< The connection's.
};

class SqliteConnection final : public Connection {
 public:
  explicit SqliteConnection(sqlite3* db) : db_(db) {
    why_lost_ =
        "a sync of the database failed: what is on the disk is not known any more; check the disk";
  }
  Result<void> set_up(Mode mode, int busy_ms);

  [[nodiscard]] Engine engine() const override { return Engine::kSqlite; }
  Result<Statement> prepare(std::string_view sql) override;
  void set_patience(Patience) override {}  // there is no server
  void set_on_silence(std::function<void(const std::string&)>) override {}
  Result<void> execute(const std::string& sql) override;
  Result<void> begin() override { return execute("BEGIN IMMEDIATE"); }
  Result<void> commit() override { return execute("COMMIT"); }
  void roll_back() override;
  Result<bool> was_committed() override { return false; }  // its answers cannot be lost
  Result<void> after_commit() override;
  Result<void> check() override { return {}; }
  Result<bool> do_idle_work() override;
  Result<std::uint64_t> used_bytes() override;

  Error error(std::string_view doing) { return error_of(db_.get(), doing, failure_); }

 private:
  Result<std::int64_t> pragma(std::string_view sql);

  std::unique_ptr<sqlite3, Close> db_;
  int log_pages_ = 0;  ///< Length of the log after the last commit.
};

Result<void> SqliteConnection::set_up(Mode mode, int busy_ms) {
  sqlite3_extended_result_codes(db_.get(), 1);
  sqlite3_busy_timeout(db_.get(), busy_ms);
  std::string pragmas = "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;";
  if (mode == Mode::kWrite)
    pragmas =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
        "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;"
        "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;";
  // Reading the schema finds a damaged file here.
  pragmas += "SELECT count(*) FROM sqlite_schema;";
  HOSTLER_TRY(execute(pragmas));
  sqlite3_wal_hook(
      db_.get(),
      [](void* log_pages, sqlite3*, const char*, int pages) {
        *static_cast<int*>(log_pages) = pages;
        return SQLITE_OK;
      },
      &log_pages_);
  return {};
}

Result<Statement> SqliteConnection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error(sql.substr(0, 60)));
  return Statement(std::make_unique<SqliteRows>(statement, failure_));
}

Result<void> SqliteConnection::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(error(sql.substr(0, 60)));
}

void SqliteConnection::roll_back() {
  const Failure kept = failure_;
  if (sqlite3_get_autocommit(db_.get()) == 0) (void)execute("ROLLBACK");
  failure_ = kept;
}

/// Moves the log into the database once it is longer than about 32 MiB.
Result<void> SqliteConnection::after_commit() {
  if (log_pages_ < kLogPagesMax) return {};
  log_pages_ = 0;  // the next commit sets it
  // Not done by SQLite itself, which would not report a failed sync.
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};
  return tl::unexpected(error("checkpoint"));
}

/// Moves the whole log into the database and truncates it, unless a reader is in the way.
Result<bool> SqliteConnection::do_idle_work() {
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) return false;
  return tl::unexpected(error("checkpoint"));
}

Result<std::int64_t> SqliteConnection::pragma(std::string_view sql) {
  auto statement = HOSTLER_TRY(prepare(sql));
  return HOSTLER_TRY(statement.next()) ? statement.i64(0) : 0;
}

Result<std::uint64_t> SqliteConnection::used_bytes() {
  const auto pages = HOSTLER_TRY(pragma("PRAGMA page_count"));
  const auto free_pages = HOSTLER_TRY(pragma("PRAGMA freelist_count"));
  return static_cast<std::uint64_t>((pages - free_pages) * HOSTLER_TRY(pragma("PRAGMA page_size")));
}

}  // namespace

Result<std::unique_ptr<Connection>> open(const std::filesystem::path& file, Mode mode,
                                         int busy_ms) {
  if (mode == Mode::kWrite) {  // else SQLite makes it with the mode of the umask
    const UniqueFd made(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!made) return tl::unexpected(errno_error("create " + file.string()));
  }
  sqlite3* db = nullptr;
  const int flags = mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(file.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto connection = std::make_unique<SqliteConnection>(db);
  const auto doing = "open " + file.string();
  if (code != SQLITE_OK) return tl::unexpected(connection->error(doing));
  auto ready = connection->set_up(mode, busy_ms);
  if (!ready) return tl::unexpected(std::move(ready).error().with_context(doing));
  return connection;
}

}  // namespace hostler::store::sqlite
