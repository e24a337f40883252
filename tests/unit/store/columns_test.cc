#include <gtest/gtest.h>

#include <map>

#include "core/store/connect.h"
#include "core/store/rows.h"
#include "tests/unit/store/fixture.h"

/// The description of rows, and the columns that a database has.
namespace hostler::store {
namespace {

using Type = Column::Type;
using Columns = std::map<std::string, Type>;

template <class Record>
void describe(std::map<std::string, Columns>& tables) {
  for (const auto& column : columns_of<Record>())
    tables[std::string(Table<Record>::kName)].emplace(column.name, column.type);
}

std::map<std::string, Columns> described() {
  std::map<std::string, Columns> tables;
  describe<model::WorkRecord>(tables);
  describe<model::WorkItem>(tables);
  describe<model::LeaseRecord>(tables);
  describe<StoredAttempt>(tables);
  describe<model::InstanceRecord>(tables);
  describe<StoredCreate>(tables);
  describe<model::GateRecord>(tables);
  describe<model::PriceRow>(tables);
  describe<model::SetAccount>(tables);
  describe<model::ImageRow>(tables);
  describe<model::PrincipalUse>(tables);
  describe<model::PusherRecord>(tables);
  describe<model::OfferedRow>(tables);
  describe<model::RamReport>(tables);
  describe<model::GpuReport>(tables);
  describe<model::LedgerRecord>(tables);
  tables["work_specs"].emplace("body", Type::kText);
  tables["meta"] = {{"key", Type::kText}, {"value", Type::kText}};
  return tables;
}

class ColumnsTest : public StoreFixture {};
HOSTLER_ON_BOTH_ENGINES(ColumnsTest);

TEST_P(ColumnsTest, HasTheColumnsThatTheDescriptionOfRowsNames) {
  const auto connection = connect(place(), Mode::kRead);
  ASSERT_TRUE(connection) << connection.error().message;
  auto find =
      (*connection)
          ->prepare(on_postgres() ? "SELECT table_name::text, column_name::text, upper(data_type) "
                                    "FROM information_schema.columns WHERE table_schema = 'hostler'"
                                  : "SELECT t.name, c.name, c.type FROM sqlite_schema t "
                                    "JOIN pragma_table_info(t.name) c WHERE t.type = 'table'");
  ASSERT_TRUE(find) << find.error().message;

  std::map<std::string, Columns> found;
  for (auto row = find->next(); row && *row; row = find->next()) {
    const auto type = find->text(2);
    EXPECT_TRUE(type == "TEXT" || type == "BIGINT" || type == "INTEGER") << type;
    found[find->text(0)].emplace(find->text(1), type == "TEXT" ? Type::kText : Type::kNumber);
  }

  EXPECT_EQ(found, described());
}

}  // namespace
}  // namespace hostler::store
