#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/records.h"
#include "core/store/database.h"
#include "core/store/files/segments.h"
#include "core/store/record_fields.h"
#include "core/store/row_visitors.h"

/// Rows of each table: the SQL that names their columns, writing and checked reading. All of it
/// follows from record_fields.h.
namespace hostler::store {

/// A row of the table attempts.
struct StoredAttempt {
  model::AttemptChanged attempt;  ///< Its end without the inline output.
  InlinePlace place;
};
template <class V>
void fields(V& v, typename V::template Ref<StoredAttempt> r) {
  fields(v, r.attempt);
  fields(v, r.place);
}

/// A row of the table creates: an intent, whole, until the instance is verified.
struct StoredCreate {
  model::InstanceId instance;
  std::string request;  ///< See create_json.h. Holds secrets.
};
template <class V>
void fields(V& v, typename V::template Ref<StoredCreate> r) {
  v.id("instance", r.instance.value);
  v.text("request", r.request);
}

/// The table of each record, and the columns of its key.
template <class Record>
struct Table;
template <>
struct Table<model::WorkRecord> {
  static constexpr std::string_view kName = "work", kKey = "id";
};
template <>
struct Table<model::WorkItem> {
  static constexpr std::string_view kName = "work_specs", kKey = "id";
};
template <>
struct Table<model::LeaseRecord> {
  static constexpr std::string_view kName = "leases", kKey = "id";
};
template <>
struct Table<StoredAttempt> {
  static constexpr std::string_view kName = "attempts", kKey = "work, number";
};
template <>
struct Table<model::InstanceRecord> {
  static constexpr std::string_view kName = "instances", kKey = "id";
};
template <>
struct Table<StoredCreate> {
  static constexpr std::string_view kName = "creates", kKey = "instance";
};
template <>
struct Table<model::GateRecord> {
  static constexpr std::string_view kName = "gates", kKey = "key";
};
template <>
struct Table<model::PriceRow> {
  static constexpr std::string_view kName = "prices",
                                    kKey = "set_name, type, market, zone, start_us";
};
template <>
struct Table<model::SetAccount> {
  static constexpr std::string_view kName = "sets", kKey = "name";
};
template <>
struct Table<model::ImageRow> {
  static constexpr std::string_view kName = "images", kKey = "set_name, query";
};
template <>
struct Table<model::PrincipalUse> {
  static constexpr std::string_view kName = "uses", kKey = "principal";
};
template <>
struct Table<model::PusherRecord> {
  static constexpr std::string_view kName = "pushers", kKey = "pool";
};
template <>
struct Table<model::OfferedRow> {
  static constexpr std::string_view kName = "offered_types",
                                    kKey = "set_name, provider_type, market, zone";
};
template <>
struct Table<model::RamReport> {
  static constexpr std::string_view kName = "ram_reports", kKey = "set_name, type";
};
template <>
struct Table<model::GpuReport> {
  static constexpr std::string_view kName = "gpu_reports", kKey = "set_name, type, kind, memory";
};
template <>
struct Table<model::LedgerRecord> {
  static constexpr std::string_view kName = "ledger", kKey = "rev";
};

/// In work_specs without the body.
template <class Record>
const std::vector<Column>& columns_of() {
  static const std::vector<Column> kColumns = [] {
    ColumnLister lister;
    fields(lister, Record());
    return lister.columns;
  }();
  return kColumns;
}

/// A condition of SQL on the row w of table work: it has not ended, or its state is damaged.
const std::string& work_lives();

/// "id, kind, state, ..."; with a prefix "w.id, w.kind, w.state, ...".
std::string names_of(const std::vector<Column>& columns, std::string_view prefix = {});
template <class Record>
std::string columns_sql(std::string_view prefix = {}) {
  return names_of(columns_of<Record>(), prefix);
}

/// "INSERT INTO table (columns) VALUES ($1, ...)".
std::string insert_sql(std::string_view table, std::string_view columns);
/// "..., name = excluded.name" for each column that is no part of `key`.
std::string updates_sql(const std::vector<Column>& columns, std::string_view key);
template <class Record>
std::string insert_sql() {
  return insert_sql(Table<Record>::kName, columns_sql<Record>());
}
/// The same with " ON CONFLICT (key) DO UPDATE SET" of all other columns.
template <class Record>
std::string upsert_sql() {
  const std::string key(Table<Record>::kKey);
  return insert_sql<Record>() + " ON CONFLICT (" + key + ") DO UPDATE SET " +
         updates_sql(columns_of<Record>(), key);
}
/// Into work_specs, with the body.
std::string insert_spec_sql();
/// upsert_intent_sql() does not change columns of the end. upsert_end_sql() changes the place of
/// inline output only if the end brings some.
std::string upsert_intent_sql();
std::string upsert_end_sql();

template <class Record>
Result<void> write(Statement& put, const Record& record) {
  RowWriter row(put);
  fields(row, record);
  return row.run();
}
/// The columns of work_specs, then the body.
Result<void> write_spec(Statement& put, const model::WorkItem& item);
Result<void> write_attempt(Statement& put, const model::AttemptChanged& attempt,
                           const InlinePlace& place);

/// What names a row to an admin: "j-5", "j-5.2", "h-7", a gate's key.
std::string key_text(const model::WorkRecord& row);
std::string key_text(const model::WorkItem& row);
std::string key_text(const model::LeaseRecord& row);
std::string key_text(const StoredAttempt& row);
std::string key_text(const model::InstanceRecord& row);
std::string key_text(const StoredCreate& row);
std::string key_text(const model::GateRecord& row);
std::string key_text(const model::PriceRow& row);
std::string key_text(const model::SetAccount& row);
std::string key_text(const model::ImageRow& row);
std::string key_text(const model::PrincipalUse& row);
std::string key_text(const model::PusherRecord& row);
std::string key_text(const model::OfferedRow& row);
std::string key_text(const model::RamReport& row);
std::string key_text(const model::GpuReport& row);
std::string key_text(const model::LedgerRecord& row);

/// kInternal: "row j-5 of table work is damaged (state is 99): ...", with what to do.
Error damaged_row(std::string_view table, std::string_view key, std::string_view problem);

/// Reads the columns of a record and checks them. The error is damaged_row(); `record` has all
/// values that are good even then.
template <class Record>
Result<void> read(RowReader& row, Record& record) {
  fields(row, record);
  if (row.ok()) return {};
  return tl::unexpected(damaged_row(Table<Record>::kName, key_text(record), row.problem()));
}
template <class Record>
Result<Record> read(const Statement& from) {
  RowReader row(from);
  Record record;
  HOSTLER_TRY(read(row, record));
  return record;
}

}  // namespace hostler::store
