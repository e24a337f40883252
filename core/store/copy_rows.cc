#include "core/store/copy_rows.h"

#include <string>
#include <vector>

#include "core/store/meta.h"

namespace hostler::store {
namespace {

struct CopiedColumn {
  std::string name;
  bool is_text = false;
};
struct CopiedTable {
  std::string name;
  std::vector<CopiedColumn> columns;
};

/// SQLite describes its tables in rows. Both engines have the same tables and columns.
Result<std::vector<CopiedTable>> tables_of(Connection& sqlite) {
  std::vector<CopiedTable> tables;
  auto names = HOSTLER_TRY(sqlite.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
      "AND name <> 'meta' ORDER BY name"));
  HOSTLER_TRY(names.start());
  while (HOSTLER_TRY(names.next())) tables.push_back({names.text(0), {}});
  auto columns = HOSTLER_TRY(sqlite.prepare("SELECT name, type FROM pragma_table_info($1)"));
  for (auto& table : tables) {
    HOSTLER_TRY(columns.start(table.name));
    while (HOSTLER_TRY(columns.next()))
      table.columns.push_back({columns.text(0), columns.view(1) == "TEXT"});
  }
  return tables;
}

Result<void> copy_table(Connection& from, Connection& to, const CopiedTable& table) {
  std::string names, parameters;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    names += (i == 0 ? "" : ", ") + table.columns[i].name;
    parameters += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
  }
  auto read = HOSTLER_TRY(from.prepare("SELECT " + names + " FROM " + table.name));
  auto write = HOSTLER_TRY(
      to.prepare("INSERT INTO " + table.name + " (" + names + ") VALUES (" + parameters + ")"));
  HOSTLER_TRY(read.start());
  while (HOSTLER_TRY(read.next())) {
    write.rewind();
    for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
      if (table.columns[static_cast<std::size_t>(i)].is_text)
        write.bind(i + 1, read.view(i));
      else
        write.bind(i + 1, read.i64(i));
    }
    HOSTLER_TRY(write.run_bound());
  }
  return {};
}

Result<void> copy_meta(Connection& from, Connection& to) {
  // The schema's version is there already; the mark of the last commit is the database's own.
  auto read = HOSTLER_TRY(from.prepare(
      "SELECT key, value FROM meta WHERE key NOT IN ('schema_version', 'last_commit')"));
  auto write = HOSTLER_TRY(to.prepare(kPutMeta));
  HOSTLER_TRY(read.start());
  while (HOSTLER_TRY(read.next())) HOSTLER_TRY(write.run(read.view(0), read.view(1)));
  return {};
}

/// A snapshot that stays the same until the transaction ends, however long it takes.
Result<void> begin_reading(Connection& from) {
  if (from.engine() == Engine::kSqlite) return from.execute("BEGIN");
  from.set_patience(Patience::kEndless);
  HOSTLER_TRY(from.begin());
  return from.execute(
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = 0; "
      "SET LOCAL idle_in_transaction_session_timeout = 0");
}

}  // namespace

Result<void> copy_rows(Connection& from, Connection& to) {
  const auto tables = HOSTLER_TRY(tables_of(from.engine() == Engine::kSqlite ? from : to));
  HOSTLER_TRY(begin_reading(from));
  auto copied = in_one_transaction(to, [&]() -> Result<void> {
    for (const auto& table : tables) HOSTLER_TRY(copy_table(from, to, table));
    return copy_meta(from, to);
  });
  from.roll_back();
  return copied;
}

}  // namespace hostler::store
