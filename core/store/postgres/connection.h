#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/store/database.h"
#include "core/store/postgres/refusal.h"
#include "core/store/postgres/session.h"

namespace hostler::store::postgres {

/// The engine of PostgreSQL: one conversation with the server. Private to postgres/.
///
/// Within a transaction, statements without rows are queued and sent in bulk: one wait for the
/// server per commit or per MiB, not one per row.
class PostgresConnection final : public Connection {
 public:
  /// `refusal` is used in kRead only.
  PostgresConnection(std::string conninfo, Mode mode, std::shared_ptr<Refusal> refusal);
  /// Opens a session, unless there is one that is alive.
  Result<void> ensure_session();

  [[nodiscard]] Engine engine() const override { return Engine::kPostgres; }
  Result<Statement> prepare(std::string_view sql) override;
  void set_patience(Patience patience) override;
  void set_on_silence(std::function<void(const std::string&)> on_silence) override;
  Result<void> execute(const std::string& sql) override;
  Result<void> begin() override;
  Result<void> commit() override;
  void roll_back() override;
  Result<bool> was_committed() override;
  Result<void> after_commit() override { return {}; }
  Result<void> check() override;
  Result<bool> do_idle_work() override { return true; }
  Result<std::uint64_t> used_bytes() override;

  // For statements.

  /// Runs a statement to the end; within a transaction maybe later, at the commit at the latest.
  Result<void> run(const std::string& sql, const Parameters& parameters);
  /// Drops the rows that another reader has not read.
  Result<void> start_reading(const void* reader, const std::string& sql,
                             const Parameters& parameters);
  /// Null: no more rows.
  Result<ResultPtr> next_row(const void* reader, std::string_view sql);
  void stop_reading(const void* reader);

 private:
  Result<std::unique_ptr<Session>> new_session();
  Result<void> compare_mark(Session& session);
  /// Writes the mark of this transaction, which fails if that of the last commit is not there.
  Result<void> put_mark();
  /// Ensures a usable session: that of the transaction, or one that is alive.
  Result<void> need_session();
  /// The name of `sql`, prepared on this session.
  Result<const char*> prepared(const std::string& sql);
  /// `name`: null if it is not prepared.
  Result<void> queue(const std::string& sql, const char* name, const Parameters& parameters);
  /// Sends the queue and waits for all answers; returns the first failure.
  Result<void> drain();
  void note_result(const PGresult& result, std::optional<Error>& first);
  void drop_rows();

  Error statement_failed(const PGresult& result, std::string_view doing);
  Error connection_failed(std::string_view doing);
  Error database_lost(std::string why);

  const std::string conninfo_;
  const Mode mode_;
  const std::string name_;  ///< Of its sessions, as the server shows it.
  const std::shared_ptr<Refusal> refusal_;
  Patience patience_;
  std::function<void(const std::string&)> on_silence_;
  std::unique_ptr<Session> session_;
  std::unordered_map<std::string, std::string> prepared_;  ///< Names by SQL, on session_.
  std::size_t queued_ = 0;        ///< Statements with answers that were not read yet.
  std::size_t queued_bytes_ = 0;  ///< Of their parameters.
  bool in_transaction_ = false;
  const void* reader_ = nullptr;  ///< The statement that reads rows now.

  enum class End : std::uint8_t { kOpen, kCommitted, kRolledBack };
  /// How the last transaction ended, and the marks of commits.
  struct LastTransaction {
    End end = End::kOpen;
    std::uint64_t commits = 0;
    /// Of the last commit that is known to be there, by whomever; empty: there was none. No value:
    /// no session has looked yet, or it is a kRead connection.
    std::optional<std::string> mark;
    std::string next_mark;     ///< Of this transaction.
    std::string pending_mark;  ///< Of the commit without an answer.
    bool was_committed = false;
  };
  LastTransaction last_;
};

}  // namespace hostler::store::postgres
