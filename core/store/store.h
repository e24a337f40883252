#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/connect.h"
#include "core/store/files/blobs.h"
#include "core/store/files/outputs.h"
#include "core/store/journal.h"
#include "core/store/reads.h"
#include "core/store/state_lock.h"
#include "core/store/tidy.h"

namespace hostler::store {

struct Options {
  /// What libpq takes as a connection string; empty: SQLite.
  std::string postgres = {};
  /// On the store thread: when a commit cannot be made durable (effects must stop), and when it can
  /// be again.
  std::function<void(const Health&)> on_health = {};
  std::function<void(const GroupTry&)> on_try = {};  ///< Likewise, of every try: for metrics.
  std::size_t read_connections = 3;
  std::uint64_t segment_bytes_max = std::uint64_t{64} << 20U;
  std::uint64_t blob_bytes_max = std::uint64_t{64} << 30U;
  OutputLimits outputs = {};
};

/// A piece of an attempt's stdout or stderr.
struct OutputPart {
  std::string data;
  std::uint64_t offset = 0;  ///< Of data's first byte; larger than asked for after a gap.
  std::uint64_t lost = 0;    ///< Bytes between the offset asked for and `offset` that fell out.
  std::uint64_t end = 0;     ///< Of the stream as far as it is here.
  bool complete = false;     ///< Nothing follows `data`, ever.
};

/// The state of one daemon, in one folder: rows in SQLite or PostgreSQL, output and blobs in files
/// beside it.
///
/// Threads: one of its own makes commits durable. commit() never blocks; callbacks come on the
/// store thread and must not wait for anything. What else there is says its thread itself.
class Store {
 public:
  /// Takes the folder (made 0700 if it is not there) for this process, brings the schema forward,
  /// makes the owner id at first, raises the epoch. kConflict: another process has the folder, or a
  /// newer program wrote it. Blocking.
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder, Options options);
  /// Makes durable what has queued up; no callback comes afterwards.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// What the last run left. Blocking; before the first commit.
  Result<model::Restored> load();

  /// Makes `commit` durable, after all that came before it and in one piece, and reads the bodies
  /// it wants. A failure is tried again until it works: see Health. Any thread.
  void commit(model::Commit commit, OnCommitted done) {
    journal_->commit(std::move(commit), std::move(done));
  }
  /// Any thread.
  [[nodiscard]] Health health() const { return journal_->health(); }
  [[nodiscard]] const Reads& reads() const { return *reads_; }

  /// Output beyond what comes with an exit, and output files.
  [[nodiscard]] Outputs& outputs() { return *outputs_; }
  [[nodiscard]] const Blobs& blobs() const { return *blobs_; }

  /// Up to `max` bytes of stdout (stream 0) or stderr (1) from `offset`, wherever they lie.
  /// kNotFound if there is no such attempt. Any thread but the loop; blocking.
  Result<OutputPart> read_output(model::AttemptId attempt, std::uint32_t stream,
                                 std::uint64_t offset, std::size_t max) const;

  /// What went, and how the run ended: what went before a failure does not come back.
  using OnTidied = std::function<void(const Tidied& gone, const Result<void>& ended)>;
  /// Removes what is past keeping, bit by bit between commits. `done` is called on the store
  /// thread; not at all if the store is closed before. Any thread; one run at a time, a call during
  /// a run does nothing.
  void tidy(const Keep& keep, Wall now, OnTidied done);

 private:
  Store(Place place, StateLock lock) : place_(std::move(place)), lock_(std::move(lock)) {}

  Place place_;
  StateLock lock_;  ///< Before all that writes: let go of last.
  std::unique_ptr<Reads> reads_;
  std::unique_ptr<Blobs> blobs_;
  std::unique_ptr<Outputs> outputs_;
  std::atomic<bool> tidying_ = false;
  std::vector<model::WorkId> doubtful_;  ///< See Tidy; guarded by tidying_.
  std::unique_ptr<Journal> journal_;     ///< Last: its thread uses the others.
};

}  // namespace hostler::store
