#include <cstring>
#include <utility>

#include "core/store/postgres/connection.h"

namespace hostler::store::postgres {
namespace {

// Limits of the queue, after which it is sent and the answers are read. The number of statements
// limits the answers that the server sends at once. The bytes limit libpq's buffer, which is moved
// as a whole after each write to the socket and cannot exceed 2 GiB.
constexpr std::size_t kQueueMax = 1000, kQueueBytesMax = 1 << 20;

std::string begin_of(std::string_view sql) { return std::string(sql.substr(0, 60)); }

}  // namespace

Result<const char*> PostgresConnection::prepared(const std::string& sql) {
  if (const auto known = prepared_.find(sql); known != prepared_.end())
    return known->second.c_str();
  drop_rows();
  HOSTLER_TRY(drain());
  const auto name = "s" + std::to_string(prepared_.size());
  if (PQsendPrepare(session_->get(), name.c_str(), sql.c_str(), 0, nullptr) == 0 ||
      !session_->flush())
    return tl::unexpected(connection_failed(begin_of(sql)));
  std::optional<Error> first;
  while (const auto result = session_->next_result()) note_result(*result, first);
  if (first) return tl::unexpected(*std::move(first));
  if (session_->broken()) return tl::unexpected(connection_failed(begin_of(sql)));
  return prepared_.emplace(sql, name).first->second.c_str();
}

Result<void> PostgresConnection::execute(const std::string& sql) {
  HOSTLER_TRY(need_session());
  drop_rows();
  HOSTLER_TRY(drain());
  const auto result = session_->execute(sql);
  if (!result) return tl::unexpected(connection_failed(begin_of(sql)));
  if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR)
    return tl::unexpected(statement_failed(*result, begin_of(sql)));
  return {};
}

Result<void> PostgresConnection::run(const std::string& sql, const Parameters& parameters) {
  HOSTLER_TRY(need_session());
  const char* name = HOSTLER_TRY(prepared(sql));
  HOSTLER_TRY(queue(sql, name, parameters));
  const bool waits = in_transaction_ && queued_ < kQueueMax && queued_bytes_ < kQueueBytesMax;
  return waits ? Result<void>() : drain();
}

Result<void> PostgresConnection::queue(const std::string& sql, const char* name,
                                       const Parameters& parameters) {
  drop_rows();
  PGconn* const to = session_->get();
  if (queued_ == 0 && PQenterPipelineMode(to) == 0)
    return tl::unexpected(connection_failed("pipeline"));
  ++queued_;
  for (const char* parameter : parameters) queued_bytes_ += std::strlen(parameter);
  const int sent =
      name == nullptr ? PQsendQueryParams(to, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)
                      : PQsendQueryPrepared(to, name, static_cast<int>(parameters.size()),
                                            parameters.data(), nullptr, nullptr, 0);
  if (sent == 0) return tl::unexpected(connection_failed(begin_of(sql)));
  return {};
}

Result<void> PostgresConnection::drain() {
  if (queued_ == 0) return {};
  // The results of each statement end with a null, those of the pipeline with the sync's result.
  std::size_t nulls_left = std::exchange(queued_, 0) + 1;
  queued_bytes_ = 0;
  if (PQpipelineSync(session_->get()) == 0 || !session_->flush())
    return tl::unexpected(connection_failed("send"));
  std::optional<Error> first;
  bool ended = false;
  while (!ended && !session_->broken() && nulls_left > 0) {
    const auto result = session_->next_result();
    if (result) note_result(*result, first);
    if (!result) --nulls_left;
    ended = result && PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC;
  }
  const bool sound = ended && PQexitPipelineMode(session_->get()) != 0;
  if (!sound) session_->give_up();
  if (first) return tl::unexpected(*std::move(first));
  if (!sound) return tl::unexpected(connection_failed("answer"));
  return {};
}

void PostgresConnection::note_result(const PGresult& result, std::optional<Error>& first) {
  const auto status = PQresultStatus(&result);
  if (status == PGRES_COMMAND_OK) {
    const std::string_view tag = PQcmdStatus(const_cast<PGresult*>(&result));
    if (tag == "COMMIT") last_.end = End::kCommitted;
    if (tag == "ROLLBACK") last_.end = End::kRolledBack;
  }
  if (status != PGRES_FATAL_ERROR) return;
  const char* severity = PQresultErrorField(&result, PG_DIAG_SEVERITY_NONLOCALIZED);
  // ERROR ends the transaction. FATAL ends the session, and tells nothing of the transaction.
  if (severity != nullptr && std::string_view(severity) == "ERROR") last_.end = End::kRolledBack;
  auto error = statement_failed(result, "PostgreSQL");
  if (!first) first = std::move(error);
}

Result<void> PostgresConnection::start_reading(const void* reader, const std::string& sql,
                                               const Parameters& parameters) {
  HOSTLER_TRY(need_session());
  drop_rows();
  HOSTLER_TRY(drain());
  const char* name = HOSTLER_TRY(prepared(sql));
  if (PQsendQueryPrepared(session_->get(), name, static_cast<int>(parameters.size()),
                          parameters.data(), nullptr, nullptr, 0) == 0 ||
      PQsetSingleRowMode(session_->get()) == 0 || !session_->flush())
    return tl::unexpected(connection_failed(begin_of(sql)));
  reader_ = reader;
  return {};
}

Result<ResultPtr> PostgresConnection::next_row(const void* reader, std::string_view sql) {
  if (reader_ != reader) {
    failure_ = Failure::kProgramError;
    return fail(Errc::kInternal, begin_of(sql) + ": another statement was started meanwhile");
  }
  std::optional<Error> first;
  while (auto result = session_->next_result()) {
    if (PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE) return result;
    note_result(*result, first);
  }
  reader_ = nullptr;
  if (first) return tl::unexpected(std::move(*first).with_context(sql.substr(0, 60)));
  if (session_->broken()) return tl::unexpected(connection_failed(begin_of(sql)));
  return ResultPtr();
}

void PostgresConnection::stop_reading(const void* reader) {
  if (reader_ == reader) drop_rows();
}

void PostgresConnection::drop_rows() {
  if (reader_ == nullptr) return;
  reader_ = nullptr;
  while (session_->next_result()) {
  }
}

}  // namespace hostler::store::postgres
