#include "core/store/sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

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
  if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return Failure::kSync;
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
      return Failure::kOurs;
    default:
      return Failure::kPassing;
  }
}

Error error_of(sqlite3* db, std::string_view doing, Failure& failure) {
  const int code = sqlite3_extended_errcode(db);
  failure = failure_of(code);
  const int primary = code & 0xff;
  const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
  return {failure == Failure::kPassing && !damaged ? Errc::kUnavailable : Errc::kInternal,
          std::string(doing) + ": " + sqlite3_errmsg(db) + advice(code)};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::rewind() { sqlite3_reset(statement_.get()); }

void Statement::bind_i64(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL; every text column is NOT NULL.
  sqlite3_bind_text64(statement_.get(), index, value.data() != nullptr ? value.data() : "",
                      value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    rewind();
    return false;
  }
  auto error = error_of(sqlite3_db_handle(statement_.get()),
                        std::string_view(sqlite3_sql(statement_.get())).substr(0, 60), *failure_);
  rewind();
  return tl::unexpected(std::move(error));
}

Result<void> Statement::start_with(std::span<const Value> values) {
  rewind();
  int index = 0;
  for (const Value& value : values) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&value))
      bind_i64(index, *number);
    else
      bind(index, std::string_view(std::get<std::string>(value)));
  }
  return {};
}

std::int64_t Statement::i64(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::view(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Connection::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Result<Connection> Connection::open(const std::filesystem::path& file, Mode mode, int busy_ms) {
  if (mode == Mode::kWrite) {  // before SQLite would make it with the umask's mode
    const UniqueFd made(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!made) return tl::unexpected(errno_error("create " + file.string()));
  }
  sqlite3* db = nullptr;
  const int flags = mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(file.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection(db);
  const auto doing = "open " + file.string();
  if (code != SQLITE_OK) return tl::unexpected(error_of(db, doing, *connection.failure_));
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, busy_ms);
  std::string pragmas = "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY;";
  if (mode == Mode::kWrite)
    pragmas =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
        "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;"
        "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;";
  // Reading the schema makes a damaged file show itself here.
  pragmas += "SELECT count(*) FROM sqlite_schema;";
  auto ready = connection.execute(pragmas);
  if (!ready) return tl::unexpected(std::move(ready).error().with_context(doing));
  sqlite3_wal_hook(
      db,
      [](void* log_pages, sqlite3*, const char*, int pages) {
        *static_cast<int*>(log_pages) = pages;
        return SQLITE_OK;
      },
      connection.log_pages_.get());
  return connection;
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(db_.get(), sql.substr(0, 60), *failure_));
  return Statement(statement, failure_.get());
}

Result<void> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(error_of(db_.get(), sql.substr(0, 60), *failure_));
}

Result<void> Connection::shorten_log() {
  if (*log_pages_ < kLogPagesMax) return {};
  *log_pages_ = 0;  // set anew by the next commit
  // Not left to SQLite itself: it would keep a failed sync to itself.
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};
  return tl::unexpected(error_of(db_.get(), "checkpoint", *failure_));
}

Result<void> Connection::truncate_log() {
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::unexpected(error_of(db_.get(), "checkpoint", *failure_));
}

Result<std::uint64_t> Connection::used_bytes() {
  const auto number = [this](std::string_view pragma) -> Result<std::int64_t> {
    auto statement = HOSTLER_TRY(prepare(pragma));
    return HOSTLER_TRY(statement.next()) ? statement.i64(0) : 0;
  };
  const auto pages = HOSTLER_TRY(number("PRAGMA page_count"));
  const auto free_pages = HOSTLER_TRY(number("PRAGMA freelist_count"));
  return static_cast<std::uint64_t>((pages - free_pages) * HOSTLER_TRY(number("PRAGMA page_size")));
}

void Connection::roll_back() {
  const Failure kept = *failure_;
  if (sqlite3_get_autocommit(db_.get()) == 0) (void)execute("ROLLBACK");
  *failure_ = kept;
}

}  // namespace hostler::store::sqlite
