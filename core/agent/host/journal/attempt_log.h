#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/agent/host/journal/attempts.h"
#include "core/agent/host/journal/journal.h"
#include "core/agent/host/journal/sync_plan.h"

namespace hostler::agent {

/// The table of attempts in memory together with the journal on disk. Every change goes to the
/// journal first and to the table after it. Also decides when the journal is synced and when a new
/// file of it begins. Used by the server's one thread; blocks for disk writes.
class AttemptLog {
 public:
  /// Opens the journal of the working directory and reads all attempts from it. A new state folder
  /// gets a random state id.
  Result<void> open();

  [[nodiscard]] const std::string& state_id() const { return attempts_.state_id; }
  /// The highest sequence number that a start has used.
  [[nodiscard]] std::uint64_t last_sequence() const { return attempts_.last_sequence; }
  /// Descriptor of the file that a new shim inherits and appends its End to. Owned by this object.
  [[nodiscard]] int fd() const { return journal_.fd(); }

  /// Null if the attempt is unknown. Valid until forget() of this attempt.
  [[nodiscard]] const Attempt* find(model::AttemptId id) { return attempts_.find(id); }
  [[nodiscard]] const std::map<model::AttemptId, Attempt>& all() { return attempts_.all(); }

  /// Adds an attempt. After an error the attempt is not in the table.
  Result<void> begin(const Begin& begin);
  /// Ends an attempt whose shim is gone and left no End. take_ended() will return its id.
  void end(const End& end);
  /// The attempt began in an earlier boot and left no End: its phase becomes kUnknownEnd.
  void set_unknown_end(model::AttemptId id);
  /// Removes an attempt of the table and returns it.
  Attempt forget(model::AttemptId id);

  /// Reads the records that shims have appended since the last call.
  void read_new();
  /// Calls read_new(). Returns the attempts that have ended since the last call of this function.
  std::set<model::AttemptId> take_ended();

  /// When tick() has to sync next, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() { return sync_plan_.due(attempts_); }
  /// Syncs the journal if that is due, and begins a new file if the current one is large.
  void tick();
  /// Begins a new journal file that holds only the attempts in the table. Removes older files that
  /// no running shim can still write to.
  void rotate();
  void sync() { journal_.sync(); }

 private:
  Journal journal_;
  Attempts attempts_;
  SyncPlan sync_plan_;
  std::uint64_t rotate_above_ = 0;  ///< Size of the newest journal file, in bytes.
};

}  // namespace hostler::agent
