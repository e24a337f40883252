#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "core/store/batch.h"
#include "core/store/database.h"
#include "core/store/files/segments.h"

namespace hostler::store {

/// Writes batches with statements that are prepared once. Threads: the store thread.
class Writer {
 public:
  /// By the number of the work.
  using Bodies = std::unordered_map<std::uint64_t, std::shared_ptr<const std::string>>;

  static Result<std::unique_ptr<Writer>> open(Connection& connection, Segments& segments);

  /// Writes the whole batch in one transaction, and makes its inline output durable before that.
  /// After an error nothing of it is in the database; after kOutcomeUnknown the same batch must be
  /// given again: it is written unless it is there already.
  Result<void> write(const Batch& batch);
  /// The bodies of the pieces of work with these numbers, as far as they are in the store.
  Result<Bodies> bodies(std::span<const Value> numbers);

 private:
  /// A member for each kind of row, and of change to it.
  struct Statements {
    Statement put_work, put_spec, put_lease, intend_attempt, end_attempt, put_instance, put_create,
        erase_create, put_gate, open_gate, put_price, put_account, put_image, forget_image, put_use,
        put_pusher, put_offered, erase_offered, put_ram, forget_ram, put_gpus, forget_gpus,
        put_record, find_bodies;
  };
  Writer(Connection& connection, Segments& segments, Statements statements)
      : connection_(connection), segments_(segments), sql_(std::move(statements)) {}

  Result<std::vector<InlinePlace>> write_outputs(const Batch& batch);
  Result<void> write_rows(const Batch& batch, const std::vector<InlinePlace>& places);
  /// Whether the batch with the unknown outcome is in the database.
  Result<bool> was_batch_committed();
  Result<void> write_images(const Batch& batch);
  Result<void> write_work(const Batch& batch);
  Result<void> write_offered(const Batch& batch);
  Result<void> write_ram_reports(const Batch& batch);
  Result<void> write_gpu_reports(const Batch& batch);
  Result<void> write_attempt(const Batch::Attempt& attempt, const InlinePlace& place);
  Result<void> write_instance(const Batch::Instance& instance);

  Connection& connection_;
  Segments& segments_;
  Statements sql_;
  bool outcome_unknown_ = false;
};

}  // namespace hostler::store
