#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "core/store/batch.h"
#include "core/store/database.h"
#include "core/store/files/segments.h"

namespace hostler::store {

/// Writes batches by statements prepared once. Threads: the store's.
class Writer {
 public:
  /// By the number of the work.
  using Bodies = std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>>;

  static Result<std::unique_ptr<Writer>> open(Connection& connection, Segments& segments);

  /// The whole batch in one transaction, inline output durable before it; nothing of it on
  /// failure. After kOutcomeUnknown the same batch must be given again: it is found out whether it
  /// is there, and written if it is not.
  Result<void> write(const Batch& batch);
  /// The bodies of the pieces of work with these numbers, as far as they are in the store.
  Result<Bodies> bodies(std::span<const Value> numbers);

 private:
  struct Statements {
    Statement put_work, put_spec, intend_attempt, end_attempt, put_instance, put_create,
        erase_create, put_gate, open_gate, put_price, put_record, find_bodies;
  };
  Writer(Connection& connection, Segments& segments, Statements statements)
      : connection_(connection), segments_(segments), sql_(std::move(statements)) {}

  Result<std::vector<InlinePlace>> write_outputs(const Batch& batch);
  Result<void> write_rows(const Batch& batch, const std::vector<InlinePlace>& places);
  /// Whether a batch whose outcome was unknown is there.
  Result<bool> settle();
  Result<void> write_work(const Batch& batch);
  Result<void> write_attempt(const Batch::Attempt& attempt, const InlinePlace& place);
  Result<void> write_instance(const Batch::Instance& instance);

  Connection& connection_;
  Segments& segments_;
  Statements sql_;
  bool unsettled_ = false;
};

}  // namespace hostler::store
