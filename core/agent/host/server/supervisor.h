#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/host/attempt/cleaner.h"
#include "core/agent/host/attempt/slots.h"
#include "core/agent/host/journal/attempt_log.h"
#include "core/agent/host/server/card_holders.h"
#include "core/agent/host/server/card_reader.h"
#include "core/agent/host/server/checks.h"
#include "core/agent/host/server/shim_table.h"
#include "core/agent/host/system/slot_cgroups.h"

namespace hostler::agent {

/// Supervises the attempts of this host: starts each one in a slot with a shim of its own, notices
/// when the shim has ended, and removes everything that belongs to the attempt once the daemon has
/// acknowledged it. Knows nothing of connections. Used by the server's one thread.
class Supervisor {
 public:
  /// All must outlive the supervisor. `checks` and `cards` name child processes that do not belong
  /// to any job.
  Supervisor(Poller& poller, const Checks& checks, const CardReader& cards)
      : checks_(checks), cards_(cards), shims_(poller) {}

  /// Takes over the working directory, whose absolute path is `folder`: reads the attempts, finds
  /// the shims that live, and settles attempts whose shim is gone. May block for some seconds while
  /// it kills their processes. Call once, and only while server.lock is held.
  Result<void> open(const std::string& folder);
  /// Call when the server ends: syncs the journal. Attempts continue.
  void close();

  /// The uids for jobs; used only where the agent is root. `count` 0: jobs run as the agent's user.
  void set_uids(std::uint32_t first, std::uint32_t count);
  /// Starts an attempt, or returns why it will never start.
  std::variant<Started, Refused> start(const Start& start);
  /// Asks the shim to end its job: after the grace period, or `at_once`. Ignored unless it runs.
  void kill(model::AttemptId id, bool at_once);
  /// Tells the shim of a notice of interruption. Ignored unless it runs.
  void interrupt(const Interrupt& notice);
  /// The daemon has acknowledged the attempt. Removes its files and frees its slot. Ignored if the
  /// attempt is unknown or still running; false then.
  bool forget(model::AttemptId id);

  /// An event on the pidfd of a found shim.
  void on_pidfd(int pidfd);
  /// True if the child that was reaped was a shim or the cleaner.
  bool on_child_exit(pid_t pid);
  /// Call after each round of events. Settles the attempts of all shims that have ended. Returns
  /// the attempts that have ended since the last call. May block as open() does.
  std::set<model::AttemptId> take_ended();

  /// Does what is due: cleaning, removing unused cgroups, syncing and rotating the journal.
  void tick();
  /// When take_ended() or tick() has to be called next, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due();

  [[nodiscard]] AttemptLog& attempts() { return log_; }
  [[nodiscard]] CardHolders& card_holders() { return card_holders_; }
  [[nodiscard]] ShimTable& shims() { return shims_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& boot_id() const { return boot_id_; }
  [[nodiscard]] Limits limits() const;

 private:
  void adopt(const Attempt& attempt);
  void end_lost(const Attempt& attempt);
  Result<void> fork_shim(const Start& start, const Begin& begin);
  void remove(model::AttemptId id);
  [[nodiscard]] std::string marker(const Begin& begin) const;

  const Checks& checks_;
  const CardReader& cards_;
  ShimTable shims_;
  AttemptLog log_;
  Slots slots_;
  SlotCgroups cgroups_;
  CardHolders card_holders_{log_, cgroups_};
  Cleaner cleaner_;
  std::string folder_;  ///< Absolute path of the state folder.
  std::string boot_id_;
  std::uint32_t uid_first_ = 0;
  std::uint32_t uid_count_ = 0;         ///< 0: jobs have no uids of their own.
  std::vector<model::AttemptId> gone_;  ///< Their shims ended; take_ended() settles them.
  /// When unused cgroups are removed, boottime in us; 0: there are none.
  std::int64_t idle_at_ = 0;
};

}  // namespace hostler::agent
