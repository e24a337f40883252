#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/records.h"
#include "core/store/database.h"
#include "core/store/files/segments.h"

/// How records lie in tables: one list of columns, one writer and one reader a table, side by side
/// in rows.cc in the same order.
namespace hostler::store {

/// Reads the columns of a row one after the other.
class Row {
 public:
  explicit Row(const Statement& statement, int first = 0) : statement_(statement), column_(first) {}

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Row& operator>>(T& out) {
    out = static_cast<T>(statement_.i64(column_++));
    return *this;
  }
  Row& operator>>(std::string& out) {
    out = statement_.view(column_++);
    return *this;
  }
  Row& operator>>(Wall& out) { return *this >> out.us; }
  Row& operator>>(model::Micros& out) { return *this >> out.value; }
  /// Two columns: the number, and the kind.
  Row& operator>>(model::WorkId& out) { return *this >> out.value >> out.kind; }
  Row& operator>>(model::InstanceId& out) { return *this >> out.value; }
  /// Negative: unset.
  template <class T>
  Row& operator>>(std::optional<T>& out) {
    const auto number = statement_.i64(column_++);
    out = number < 0 ? std::nullopt : std::optional<T>(static_cast<T>(number));
    return *this;
  }

 private:
  const Statement& statement_;
  int column_;
};

/// In kWorkSpecColumns the body is left out, which most readers do without.
extern const std::string_view kWorkColumns, kWorkSpecColumns, kAttemptColumns, kInstanceColumns,
    kGateColumns, kPriceColumns, kLedgerColumns;

/// "INSERT INTO table (columns) VALUES ($1, ...)"; with a key, "... ON CONFLICT (key) DO UPDATE
/// SET" for every column that is no part of it.
std::string insert_sql(std::string_view table, std::string_view columns, std::string_view key = {});
/// `columns`, each with "prefix." before it.
std::string prefixed(std::string_view columns, std::string_view prefix);

Result<void> write(Statement& put, const model::WorkRecord& work);
/// The columns, then the body.
Result<void> write_spec(Statement& put, const model::WorkItem& item);
Result<void> write(Statement& put, const model::AttemptChanged& attempt, const InlinePlace& place);
Result<void> write(Statement& put, const model::InstanceRecord& instance);
Result<void> write(Statement& put, const model::GateRecord& gate);
Result<void> write(Statement& put, const model::PriceSeen& price);
Result<void> write(Statement& put, const model::LedgerRecord& record);

void read(Row& row, model::WorkRecord& work);
/// Everything but the record, whose number it sets, and the body.
void read_spec(Row& row, model::WorkItem& item);
/// The inline output stays where `place` says.
void read(Row& row, model::AttemptChanged& attempt, InlinePlace& place);
void read(Row& row, model::InstanceRecord& instance);
void read(Row& row, model::GateRecord& gate);
void read(Row& row, model::PriceSeen& price);
void read(Row& row, model::LedgerRecord& record);

}  // namespace hostler::store
