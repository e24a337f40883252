#include "core/store/postgres/database.h"

#include <charconv>
#include <cstring>
#include <deque>

#include "core/store/postgres/connection.h"
#include "core/store/postgres/text.h"

namespace hostler::store::postgres {
namespace {

class PostgresRows final : public Statement::Rows {
 public:
  PostgresRows(PostgresConnection& connection, std::string sql)
      : connection_(connection), sql_(std::move(sql)) {}
  ~PostgresRows() override { rewind(); }
  PostgresRows(const PostgresRows&) = delete;
  PostgresRows& operator=(const PostgresRows&) = delete;

  void bind_number(int index, std::int64_t value) override {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    slot(index).assign(digits, end);
  }
  void bind_text(int index, std::string_view value) override {
    if (needs_escape(value))
      slot(index) = escaped(value);
    else
      slot(index).assign(value);
  }
  Result<bool> next() override;
  Result<void> finish() override { return connection_.run(sql_, parameters()); }
  void rewind() override;

  [[nodiscard]] std::int64_t number(int column) const override {
    const char* text = PQgetvalue(row_.get(), 0, column);
    std::int64_t out = kNoNumber;
    std::from_chars(text, text + std::strlen(text), out);
    return out;
  }
  [[nodiscard]] std::string_view text(int column) const override {
    const std::string_view text(PQgetvalue(row_.get(), 0, column),
                                static_cast<std::size_t>(PQgetlength(row_.get(), 0, column)));
    if (text.find('\x01') == std::string_view::npos) return text;
    return unescaped_.emplace_back(unescaped(text));
  }

 private:
  std::string& slot(int index) {
    count_ = static_cast<std::size_t>(index);
    if (values_.size() < count_) values_.resize(count_);
    return values_[count_ - 1];
  }
  const Parameters& parameters() {
    parameters_.clear();
    for (std::size_t i = 0; i < count_; ++i) parameters_.push_back(values_[i].c_str());
    return parameters_;
  }

  PostgresConnection& connection_;
  const std::string sql_;
  std::vector<std::string> values_;  ///< The first count_ are bound; the others keep their memory.
  std::size_t count_ = 0;
  Parameters parameters_;
  bool reading_ = false;
  ResultPtr row_;
  mutable std::deque<std::string> unescaped_;  ///< Texts of the present row.
};

Result<bool> PostgresRows::next() {
  if (!reading_) HOSTLER_TRY(connection_.start_reading(this, sql_, parameters()));
  reading_ = false;
  unescaped_.clear();
  row_ = HOSTLER_TRY(connection_.next_row(this, sql_));
  reading_ = row_ != nullptr;
  return reading_;
}

void PostgresRows::rewind() {
  if (reading_) connection_.stop_reading(this);
  reading_ = false;
  count_ = 0;
  row_.reset();
  unescaped_.clear();
}

}  // namespace

Result<Statement> PostgresConnection::prepare(std::string_view sql) {
  HOSTLER_TRY(need_session());
  HOSTLER_TRY(prepared(std::string(sql)));
  return Statement(std::make_unique<PostgresRows>(*this, std::string(sql)));
}

Result<std::unique_ptr<Connection>> open(const std::string& conninfo, Mode mode) {
  auto connection =
      std::make_unique<PostgresConnection>(conninfo, mode, std::make_shared<Refusal>());
  HOSTLER_TRY(connection->ensure_session());
  return connection;
}

Result<std::vector<std::unique_ptr<Connection>>> open_readers(const std::string& conninfo,
                                                              std::size_t count) {
  const auto refusal = std::make_shared<Refusal>();
  std::vector<std::unique_ptr<Connection>> readers;
  for (std::size_t i = 0; i < count; ++i) {
    auto connection = std::make_unique<PostgresConnection>(conninfo, Mode::kRead, refusal);
    HOSTLER_TRY(connection->ensure_session());
    readers.push_back(std::move(connection));
  }
  return readers;
}

}  // namespace hostler::store::postgres
