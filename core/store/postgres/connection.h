#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/store/database.h"
#include "core/store/postgres/refusal.h"
#include "core/store/postgres/session.h"

namespace hostler::store::postgres {

/// What database.h promises. Private to postgres/.
///
/// Within a transaction statements without rows are queued and sent in bulk: one wait for the
/// server a commit, or a MiB, not one a row.
class PostgresConnection final : public Connection {
 public:
  /// `refusal` is heeded in kRead.
  PostgresConnection(std::string conninfo, Mode mode, std::shared_ptr<Refusal> refusal);
  /// A session, the first or the next. Nothing to do if there is one that stands.
  Result<void> ensure_session();

  [[nodiscard]] Engine engine() const override { return Engine::kPostgres; }
  Result<Statement> prepare(std::string_view sql) override;
  void set_patience(Patience patience) override;
  Result<void> execute(const std::string& sql) override;
  Result<void> begin() override;
  Result<void> commit() override;
  void roll_back() override;
  Result<bool> was_committed() override;
  Result<void> after_commit() override { return {}; }
  Result<bool> rest() override;
  Result<std::uint64_t> used_bytes() override;

  // For statements.

  /// To the end; within a transaction some time until it ends.
  Result<void> run(const std::string& sql, const Parameters& parameters);
  /// Drops what rows another reader has left.
  Result<void> start_reading(const void* reader, const std::string& sql,
                             const Parameters& parameters);
  /// Null: no more rows.
  Result<ResultPtr> next_row(const void* reader, std::string_view sql);
  void stop_reading(const void* reader);

 private:
  Result<std::unique_ptr<Session>> new_session();
  Result<void> compare_mark(Session& session);
  /// A session to speak on: the transaction's, or one that stands.
  Result<void> need_session();
  /// The name of `sql`, prepared on this session.
  Result<const char*> prepared(const std::string& sql);
  /// `name`: null if it is not prepared.
  Result<void> queue(const std::string& sql, const char* name, const Parameters& parameters);
  /// Sends what is queued and waits for its end; the first failure.
  Result<void> drain();
  void hear(const PGresult& result, std::optional<Error>& first);
  void drop_rows();

  Error failed(const PGresult& result, std::string_view doing);
  Error broken(std::string_view doing);
  Error lost(std::string why);

  const std::string conninfo_;
  const Mode mode_;
  const std::string name_;  ///< Of its sessions, on the server.
  const std::shared_ptr<Refusal> refusal_;
  Patience patience_;
  std::unique_ptr<Session> session_;
  std::unordered_map<std::string, std::string> prepared_;  ///< Names by SQL, on session_.
  std::size_t queued_ = 0;        ///< Statements whose answers were not read.
  std::size_t queued_bytes_ = 0;  ///< Of their parameters.
  bool in_transaction_ = false;
  const void* reader_ = nullptr;  ///< The statement whose rows are on their way.

  // How the last transaction ended.
  enum class End : std::uint8_t { kOpen, kCommitted, kRolledBack };
  End end_ = End::kOpen;
  std::uint64_t commits_ = 0;
  std::string mark_;          ///< With the last commit that is known to be there; empty: none yet.
  std::string pending_mark_;  ///< With the one whose answer has not come.
  bool was_committed_ = false;
};

}  // namespace hostler::store::postgres
