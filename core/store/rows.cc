#include "core/store/rows.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/json/gpus.h"
#include "core/model/card.h"

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

std::optional<std::vector<std::string>> parse_cards(std::string_view text) {
  auto cards = split_names(text);
  const std::set<std::string_view> different(cards.begin(), cards.end());
  if (cards.size() > model::kCardsMax || different.size() != cards.size() ||
      !std::ranges::all_of(cards, model::is_card_uuid))
    return std::nullopt;
  return cards;
}

std::optional<std::vector<std::string>> parse_sessions(std::string_view text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  const auto document = json::Document::parse(text);
  if (!document || !document->root().is(json::Kind::kArray)) return std::nullopt;
  for (const json::Value session : document->root().children()) {
    const bool is_name =
        session.is(json::Kind::kString) && session.text().size() <= model::kPushedNameMax;
    if (!is_name || out.size() == model::kSupersededMax) return std::nullopt;
    out.emplace_back(session.text());
  }
  return out;
}

std::string sessions_text(const std::vector<std::string>& sessions) {
  std::string out;
  if (sessions.empty()) return out;
  json::Writer w(out, json::Writer::Disruptive::kAsItIs);
  w.begin_array();
  for (const auto& session : sessions) w.value(session);
  w.end_array();
  return out;
}

std::string gpu_groups_text(std::int32_t count, const model::GpuGroups& groups) {
  std::string out;
  json::Writer w(out);
  if (!groups.empty()) json::write_gpus_value(w, count, groups);
  return out;
}

std::optional<model::GpuGroups> parse_gpu_groups(std::string_view text, std::int32_t count) {
  model::GpuGroups out;
  if (text.empty()) return out;
  const auto document = json::Document::parse(text);
  if (!document) return std::nullopt;
  json::Problems problems;
  std::int32_t read = 0;
  const bool good = json::read_gpus({document->root(), problems}, read, out);
  if (!good || read != count) return std::nullopt;
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
std::string key_text(const model::PusherRecord& row) { return row.pool; }
std::string key_text(const model::OfferedRow& row) {
  return row.set + " " + row.provider_type + " " + model::to_string(row.market) + " " + row.zone;
}
std::string key_text(const model::RamReport& row) { return row.set + " " + row.type; }
std::string key_text(const model::GpuReport& row) {
  return row.set + " " + row.type + " " + row.kind + " " + std::to_string(row.memory);
}
std::string key_text(const model::LedgerRecord& row) { return std::to_string(row.rev); }

Error damaged_row(std::string_view table, std::string_view key, std::string_view problem) {
  return {Errc::kInternal, "row " + printable(key, 200) + " of table " + std::string(table) +
                               " is damaged (" + std::string(problem) +
                               "): stop hostlerd and correct the row, or restore a backup"};
}

}  // namespace hostler::store
