#include "core/store/postgres/setup.h"

#include "core/base/text.h"
#include "core/log/log.h"
#include "core/store/postgres/failures.h"

namespace hostler::store::postgres {
namespace {

constexpr int kOldestServer = 130000;
constexpr const char* kLockKey = "7525360446231376484";  // "hostlerd"

Result<void> check_server(Session& session) {
  const int version = PQserverVersion(session.get());
  if (version < kOldestServer)
    return fail(Errc::kInvalidArgument, "the server is PostgreSQL " +
                                            std::to_string(version / 10000) + ", hostlerd needs " +
                                            std::to_string(kOldestServer / 10000) +
                                            " or newer: upgrade it");
  const char* encoding = PQparameterStatus(session.get(), "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8")
    return fail(Errc::kInvalidArgument,
                "the database has the encoding " +
                    std::string(encoding != nullptr ? encoding : "?") +
                    ": make one with createdb --encoding=UTF8 --template=template0");
  return {};
}

/// SELECT set_config(...), ...: numbers are milliseconds or seconds as PostgreSQL counts them.
std::string settings(Mode mode) {
  std::string sql = "SELECT set_config('search_path', 'hostler', false)";
  const auto set = [&sql](const std::string& key, const std::string& value) {
    sql += ", set_config('" + key + "', " + value + ", false)";
  };
  // remote_apply is stronger than on: leave it.
  set("synchronous_commit",
      "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' "
      "ELSE 'on' END");
  set("default_transaction_isolation", "'read committed'");
  set("default_transaction_read_only", mode == Mode::kRead ? "'on'" : "'off'");
  set("client_min_messages", "'warning'");
  set("lock_timeout", mode == Mode::kRead ? "'2000'" : "'1000'");
  // As long as a reader waits: a statement must not run on when nobody waits for it.
  set("statement_timeout", mode == Mode::kRead ? "'30000'" : "'60000'");
  set("idle_in_transaction_session_timeout", "'60000'");
  set("jit", "'off'");
  // The writer finds rows by keys only. A plan made while a table is small must not scan it later.
  if (mode == Mode::kWrite) set("enable_seqscan", "'off'");
  // The server notices within half a minute that this machine is gone, and releases the lock.
  set("tcp_keepalives_idle", "'10'");
  set("tcp_keepalives_interval", "'5'");
  set("tcp_keepalives_count", "'3'");
  return sql;
}

/// SQL that gives `what` of the session that holds the advisory lock.
std::string holder_sql(const std::string& what) {
  return "SELECT " + what +
         " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' "
         "AND l.granted AND l.objsubid = 1 AND l.database = "
         "(SELECT oid FROM pg_database WHERE datname = current_database()) "
         "AND (l.classid::bigint << 32 | l.objid::bigint) = " +
         kLockKey;
}

}  // namespace

Result<void> set_up(Session& session, Mode mode) {
  HOSTLER_TRY(check_server(session));
  HOSTLER_TRY(session.value(settings(mode)));
  if (mode == Mode::kWrite && HOSTLER_TRY(session.value("SHOW fsync")) != "on")
    log::warn("store",
              "PostgreSQL runs with fsync=off: a crash there may lose or damage all of it");
  return {};
}

Result<void> take_database(Session& session, const std::string& name) {
  const auto taken =
      session.execute(std::string("SET lock_timeout = 3000; SELECT pg_advisory_lock(") + kLockKey +
                      "); SET lock_timeout = 1000");
  if (!taken) return fail(Errc::kUnavailable, session.message());
  if (PQresultStatus(taken.get()) == PGRES_COMMAND_OK) return {};
  if (sqlstate_of(taken.get()) != "55P03")
    return tl::unexpected(error_of(taken.get(), "take the database"));
  const auto holder = HOSTLER_TRY(session.value(holder_sql("a.application_name")));
  if (holder != name && !holder.empty())
    return fail(Errc::kConflict, "the database is in use by " + printable(holder, 80) +
                                     ": stop that one, or give this one another database");
  if (holder == name) HOSTLER_TRY(session.value(holder_sql("pg_terminate_backend(a.pid)")));
  return fail(Errc::kUnavailable,
              "the last session with the database has not ended yet: try again");
}

Result<void> make_schema(Session& session) {
  // Not IF NOT EXISTS, which needs the permission to create even if the schema exists.
  const auto there =
      HOSTLER_TRY(session.value("SELECT 1 FROM pg_namespace WHERE nspname = 'hostler'"));
  if (there.empty()) HOSTLER_TRY(session.value("CREATE SCHEMA hostler"));
  return {};
}

}  // namespace hostler::store::postgres
