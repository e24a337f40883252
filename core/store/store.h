#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/mutex.h"
#include "core/model/records.h"
#include "core/store/backup.h"
#include "core/store/connect.h"
#include "core/store/files/blobs.h"
#include "core/store/files/outputs.h"
#include "core/store/files/reserve.h"
#include "core/store/journal.h"
#include "core/store/known.h"
#include "core/store/reads.h"
#include "core/store/state_lock.h"
#include "core/store/tidy.h"

namespace hostler::store {

struct Options {
  /// A connection string of libpq; empty: SQLite.
  std::string postgres = {};
  /// Called on the store thread when a commit cannot be made durable (effects must stop), and when
  /// commits succeed again.
  std::function<void(const Health&)> on_health = {};
  std::function<void(const GroupTry&)> on_try = {};  ///< Likewise, for each try: for metrics.
  std::size_t read_connections = 3;
  std::uint64_t segment_bytes_max = std::uint64_t{64} << 20U;
  std::uint64_t blob_bytes_max = std::uint64_t{64} << 30U;
  OutputLimits outputs = {};
  /// Space on the disk that is kept for rows; nullopt: Reserve::usual_bytes().
  std::optional<std::uint64_t> disk_reserve = 0;
  /// Called on any thread of the store: from now on only rows may be written, or all again.
  Reserve::OnChange on_disk = {};
  /// The time now: go on from an old state, see Known::accept().
  std::optional<Wall> go_on = std::nullopt;
};

/// A piece of an attempt's stdout or stderr.
struct OutputPart {
  std::string data;
  std::uint64_t offset = 0;  ///< Of the first byte of data; after a gap larger than asked for.
  std::uint64_t lost = 0;    ///< Bytes that are missing between the offset asked for and `offset`.
  std::uint64_t end = 0;     ///< Of the stored part of the stream.
  bool ended = false;        ///< Nothing of this attempt will ever follow `data`.
  bool complete = false;     ///< It has ended, and no byte of the stream is missing.
};

/// The state of one daemon, in one folder: rows in SQLite or PostgreSQL, output and blobs in files
/// beside it.
///
/// Threads: the store thread makes commits durable. commit() never blocks; callbacks come on the
/// store thread and must not wait for anything. Other functions state their threads.
class Store {
 public:
  /// Locks the folder (made with mode 0700 if it is not there) for this process, migrates the
  /// schema, makes the owner id at the first start, and raises the epoch. Blocks. kConflict:
  /// another process holds the folder, or a newer program wrote it.
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder, Options options);
  /// Makes the queued commits durable; no callback comes afterwards.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Why the rows are those of an older state: then nothing must be committed, as what happened
  /// since is not known. The epoch was not raised. Empty: they are not old. Any thread.
  [[nodiscard]] std::string old_state() const {
    const MutexLock lock(old_state_mutex_);
    return old_state_;
  }
  /// The clouds were asked: the rows are the newest ones, as far as they know. Blocks shortly.
  Result<void> trust_state();
  /// A cloud knows this later epoch: the rows are old. Any thread; blocks shortly.
  void found_old(const std::string& why, std::uint64_t epoch);
  /// See Known::note_later(). Blocks shortly.
  Result<void> note_later(std::uint64_t epoch) { return known_->note_later(epoch); }
  /// What the last run left. Blocks. Call it before the first commit.
  Result<model::Restored> load();

  /// Makes `commit` durable as a whole, after all commits before it, and reads the bodies that it
  /// wants. A failed try is repeated until it succeeds: see Health. Any thread.
  void commit(model::Commit commit, OnCommitted done) {
    journal_->commit(std::move(commit), [this, done = std::move(done)](Result<Committed> result) {
      if (result) known_->note(result->last_revision);
      if (done) done(std::move(result));
    });
  }
  /// Any thread.
  [[nodiscard]] Health health() const { return journal_->health(); }
  [[nodiscard]] const Reads& reads() const { return *reads_; }

  /// Output that is larger than an inline output, and output files.
  [[nodiscard]] Outputs& outputs() { return *outputs_; }
  [[nodiscard]] const Blobs& blobs() const { return *blobs_; }
  /// kUnavailable while the disk is full: new work and uploads have to wait. Any thread.
  [[nodiscard]] Result<void> check_room() const;
  /// For output. Any thread; blocks shortly.
  [[nodiscard]] DiskRoom output_room() const { return reserve_->room(); }
  /// An upload failed: find out whether the disk is full. Any thread; blocks.
  void check_disk() { reserve_->check(); }

  /// Bytes of kept output of a principal's jobs, but for those that are stored inline. Reads rows
  /// of jobs with output that is new since the last call. kUnavailable: not yet counted.
  Result<std::uint64_t> output_bytes_of(const std::string& principal);

  /// Up to `max` bytes of stdout (stream 0) or stderr (1) from `offset`, from segments or files.
  /// `job`: the job as it is now, if known; it may have ended though the row of the attempt does
  /// not say so. kNotFound if there is no such attempt. Any thread but the loop, as it blocks.
  Result<OutputPart> read_output(model::AttemptId attempt, std::uint32_t stream,
                                 std::uint64_t offset, std::size_t max,
                                 const model::WorkRecord* job = nullptr) const;

  /// What was removed, and how the run ended. After a failure the removed data stays removed.
  using OnTidied = std::function<void(const Tidied& gone, const Result<void>& ended)>;
  /// Removes old data in short steps between commits. `done` is called on the store thread, or not
  /// at all if the store is closed before. Any thread. One run at a time: a call during a run does
  /// nothing.
  void tidy(const Keep& keep, Wall now, OnTidied done);

  /// See Backup. Blocks while the rows are copied: any thread but the loop and the store's.
  Result<std::unique_ptr<Backup>> begin_backup() const { return Backup::begin(place_, tidying_); }

 private:
  Store(Place place, StateLock lock) : place_(std::move(place)), lock_(std::move(lock)) {}
  Result<void> open_reserve(Options& options);
  /// Begins an epoch, unless the state is old. May be repeated: a full disk is no reason not to
  /// start, as the reserve is for this.
  Result<std::unique_ptr<Connection>> open_rows(std::optional<Wall> go_on);

  Place place_;
  StateLock lock_;  ///< Before all parts that write: released last.
  std::unique_ptr<Known> known_;
  mutable Mutex old_state_mutex_;
  std::string old_state_;  ///< Guarded by the mutex from open() on.
  std::optional<std::uint64_t> doubted_;
  bool goes_on_ = false;  ///< This start has accepted an old state.
  std::unique_ptr<Reads> reads_;
  std::unique_ptr<Blobs> blobs_;
  std::unique_ptr<Reserve> reserve_;
  std::unique_ptr<Outputs> outputs_;
  /// Shared with a Backup, which may outlive the store.
  std::shared_ptr<std::atomic<bool>> tidying_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<model::WorkId> unknown_removals_;  ///< See Tidy; guarded by tidying_.
  std::unique_ptr<Journal> journal_;             ///< Last member: its thread uses the others.
};

}  // namespace hostler::store
