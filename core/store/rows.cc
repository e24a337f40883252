#include "core/store/rows.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::store {
namespace {

bool is_in(std::string_view column, std::string_view key) {
  for (std::string_view part : split(key, ',')) {
    part.remove_prefix(part.find_first_not_of(' '));
    if (part == column) return true;
  }
  return false;
}

std::vector<Column> intent_columns() {
  ColumnLister lister;
  intent_fields(lister, model::AttemptChanged());
  return lister.columns;
}

std::vector<Column> end_columns() {
  ColumnLister lister;
  fields(lister, model::AttemptChanged());
  return lister.columns;
}

std::string upsert_attempt_sql(const std::string& updates) {
  return insert_sql<StoredAttempt>() + " ON CONFLICT (" + std::string(Table<StoredAttempt>::kKey) +
         ") DO UPDATE SET " + updates;
}

}  // namespace

const std::string& work_lives() {
  static const std::string kCondition =
      "(w.state < " + std::to_string(static_cast<int>(model::WorkState::kSucceeded)) +
      " OR w.state > " + std::to_string(static_cast<int>(model::WorkState::kCancelled)) + ")";
  return kCondition;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::vector<std::string> split_names(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = split(text, ',');
  return {parts.begin(), parts.end()};
}

std::vector<std::string> names_of(const model::GpuGroups& groups) {
  std::vector<std::string> out;
  for (const auto& group : groups)
    out.push_back(group.kind + ":" + std::to_string(group.memory) + ":" +
                  std::to_string(group.count));
  return out;
}

std::optional<model::GpuGroups> gpu_groups_of(const std::vector<std::string>& names) {
  model::GpuGroups out;
  for (const auto& name : names) {
    const auto parts = split(name, ':');
    if (parts.size() != 3) return std::nullopt;
    const auto memory = parse_u64(parts[1]), count = parse_u64(parts[2]);
    if (!memory || !std::in_range<std::int64_t>(*memory) || !count ||
        !std::in_range<std::int32_t>(*count))
      return std::nullopt;
    out.push_back({.kind = std::string(parts[0]),
                   .memory = static_cast<std::int64_t>(*memory),
                   .count = static_cast<std::int32_t>(*count)});
  }
  return out;
}

std::string names_of(const std::vector<Column>& columns, std::string_view prefix) {
  std::string out;
  for (const auto& column : columns) {
    if (!out.empty()) out += ", ";
    if (!prefix.empty()) out.append(prefix).append(".");
    out.append(column.name);
  }
  return out;
}

std::string insert_sql(std::string_view table, std::string_view columns) {
  const auto count = std::count(columns.begin(), columns.end(), ',') + 1;
  std::string values;
  for (std::ptrdiff_t i = 1; i <= count; ++i)
    values.append(values.empty() ? "$" : ", $").append(std::to_string(i));
  return "INSERT INTO " + std::string(table) + " (" + std::string(columns) + ") VALUES (" + values +
         ")";
}

std::string updates_sql(const std::vector<Column>& columns, std::string_view key) {
  std::string out;
  for (const auto& column : columns) {
    if (is_in(column.name, key)) continue;
    if (!out.empty()) out += ", ";
    out.append(column.name).append(" = excluded.").append(column.name);
  }
  return out;
}

std::string insert_spec_sql() {
  return insert_sql(Table<model::WorkItem>::kName, columns_sql<model::WorkItem>() + ", body");
}

std::string upsert_intent_sql() {
  return upsert_attempt_sql(updates_sql(intent_columns(), Table<StoredAttempt>::kKey));
}

std::string upsert_end_sql() {
  auto updates = updates_sql(end_columns(), Table<StoredAttempt>::kKey);
  for (const auto& column : columns_of<InlinePlace>()) {
    const std::string name(column.name);
    updates += ", " + name + " = CASE WHEN excluded.segment > 0 THEN excluded." + name +
               " ELSE attempts." + name + " END";
  }
  return upsert_attempt_sql(updates);
}

Result<void> write_spec(Statement& put, const model::WorkItem& item) {
  static const std::string kNoBody;
  RowWriter row(put);
  fields(row, item);
  row.text("body", item.body ? *item.body : kNoBody);
  return row.run();
}

Result<void> write_attempt(Statement& put, const model::AttemptChanged& attempt,
                           const InlinePlace& place) {
  RowWriter row(put);
  fields(row, attempt);
  fields(row, place);
  return row.run();
}

std::string key_text(const model::WorkRecord& row) { return row.id.text(); }
std::string key_text(const model::WorkItem& row) { return row.record.id.text(); }
std::string key_text(const model::LeaseRecord& row) { return row.id.text(); }
std::string key_text(const StoredAttempt& row) { return row.attempt.attempt.text(); }
std::string key_text(const model::InstanceRecord& row) { return row.id.text(); }
std::string key_text(const StoredCreate& row) { return row.instance.text(); }
std::string key_text(const model::GateRecord& row) { return row.key; }
std::string key_text(const model::PriceRow& row) {
  return row.set + " " + row.type + " " + row.zone + " " + std::to_string(row.point.start.us);
}
std::string key_text(const model::SetAccount& row) { return row.set; }
std::string key_text(const model::ImageRow& row) { return row.set + " " + row.query; }
std::string key_text(const model::PrincipalUse& row) { return row.principal; }
std::string key_text(const model::OfferedRow& row) {
  return row.set + " " + row.provider_type + " " + model::to_string(row.market) + " " + row.zone;
}
std::string key_text(const model::RamReport& row) { return row.set + " " + row.type; }
std::string key_text(const model::LedgerRecord& row) { return std::to_string(row.rev); }

Error damaged_row(std::string_view table, std::string_view key, std::string_view problem) {
  return {Errc::kInternal, "row " + printable(key, 200) + " of table " + std::string(table) +
                               " is damaged (" + std::string(problem) +
                               "): stop hostlerd and correct the row, or restore a backup"};
}

}  // namespace hostler::store
