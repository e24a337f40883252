#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/model/records.h"
#include "core/store/database.h"

namespace hostler::store {

/// The file `known` in the state folder: the highest numbers that were durable. Rows that have
/// lower ones are of an older state that was put back. No backup has the file. Threads: those that
/// use a connection, the one that opens the store; note() and note_epoch(), any.
class Known {
 public:
  /// Makes the file if it is not there. A damaged one tells nothing.
  static Result<std::unique_ptr<Known>> open(const std::filesystem::path& folder);

  /// Why the rows are old: the file knows higher numbers, or load_backup() made this folder. Empty:
  /// they are not.
  Result<std::string> why_old(Connection& connection) const;
  /// Lets go on from old rows, in one transaction:
  /// - raises their epoch and the numbers of work and instances above all that may have been given
  ///   out since, and notes which numbers are left out;
  /// - holds the jobs that waited, and marks all work and instances as restored.
  Result<void> accept(Connection& connection, Wall now);
  /// The rows of `connection` are the newest from now on. Durable.
  Result<void> begin(Connection& connection);
  /// The epoch in which the rows end, if the folder does not vouch for them: it has known none, or
  /// those of another owner. Noted durably until trust(): see model::Restored::doubted.
  Result<std::optional<std::uint64_t>> doubts(Connection& connection) const;
  Result<void> trust() const;
  /// Instances are of this later epoch: the rows count as old, also at the next start.
  void note_epoch(std::uint64_t epoch);
  /// One set shows an instance of this later epoch, which may be a lie: the rows do not count as
  /// old, but an admin may go on from them as if they were. Durable until trust().
  Result<void> note_later(std::uint64_t epoch) const;
  [[nodiscard]] bool has_later() const;
  /// Everything up to `revision` is durable. A write without a sync.
  void note(std::uint64_t revision);

 private:
  Known(std::filesystem::path folder, UniqueFd fd)
      : folder_(std::move(folder)), fd_(std::move(fd)) {}
  void read(std::string_view line) HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] std::string line() const HOSTLER_REQUIRES(mutex_);
  /// The number in a file of the folder; unset: it is not there, or torn.
  [[nodiscard]] std::optional<std::uint64_t> read_mark(const char* name) const;
  Result<void> remove_mark(const char* name) const;
  Result<void> write_line() HOSTLER_REQUIRES(mutex_);  ///< Durable.

  std::filesystem::path folder_;
  UniqueFd fd_;
  mutable Mutex mutex_;  ///< Of the line: commits and clouds tell of higher numbers at any time.
  std::string owner_ HOSTLER_GUARDED_BY(mutex_);  ///< Empty: the file tells nothing.
  std::uint64_t epoch_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::uint64_t revision_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

/// The numbers of work that accept() has left out.
Result<std::vector<model::LeftOut>> left_out(Connection& connection);

inline constexpr const char* kDoubtedMark = "doubted";    ///< Left by Known::doubts().
inline constexpr const char* kLaterMark = "later";        ///< Left by Known::note_later().
inline constexpr const char* kRestoredMark = "restored";  ///< Left by load_backup().

}  // namespace hostler::store
