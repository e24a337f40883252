#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/records.h"
#include "core/work/outcome.h"

/// The state machine of a lease (docs/states.md has its table): a host that is lent whole. Pure, as
/// core/fleet is.
namespace hostler::work {

/// One lease that has not ended, in memory.
struct Lease {
  std::uint64_t arrival = 0;
  std::uint64_t cls = 0;        ///< Its class in the queue.
  std::uint32_t principal = 0;  ///< Its number in dispatch::Principals.
  std::uint32_t start_failures_max = model::kStartFailuresMax;
  /// Of its host, which counts as more than 0 also if it is free; 0: it has none. Kept by
  /// dispatch::Leases, as the next one is.
  model::Micros held_per_hour;
  model::Vcpus held_vcpus;
  bool queued = true;
  /// When due() is to be called. The daemon's clock may be set: only a restart looks at the times
  /// of the row.
  Mono due = Mono::max();
  Mono wait_until = Mono::max();     ///< `due`, whenever it waits.
  Mono notice = Mono::max();         ///< When its holder is to be told of the end.
  Mono renewal_tells = Mono::min();  ///< From then on a renewal is in the ledger.
  /// Of what its holder is told of the end.
  struct Telling {
    std::optional<Wall> under_way;  ///< LeaseRecord::told, once it has been told so.
    Mono again = Mono::min();       ///< From then on it is told of another end of its term.
  } telling;
  /// Of its account on this host.
  struct Opening {
    bool is_done = false;       ///< It waits for the others of its gang.
    std::uint32_t unknown = 0;  ///< So many tries, whose ends are not known.
  } opening;
  model::WorkRecord record;
  model::LeaseRecord terms;

  [[nodiscard]] model::WorkId id() const { return record.id; }
  [[nodiscard]] model::WorkState state() const { return record.state; }
  /// It has a host, as far as its record says.
  [[nodiscard]] bool has_host() const;
  /// Somebody may log in on its host.
  [[nodiscard]] bool has_account() const { return terms.login != model::Login::kNone; }
};

/// What becomes of the host.
enum class HostAfter : std::uint8_t {
  kKept,   ///< The lease goes on, or has no host.
  kReady,  ///< Nobody has used it: it takes other work at once.
  kClean,  ///< Run the cleaning command of its pool, then tell cleaned().
  kClose,  ///< Close the account of the lease, then tell cleaned().
  kEnded,  ///< It may have been changed: nobody else gets it.
};
struct LeaseOutcome {
  Outcome work;  ///< An event that comes in another state than it is for: nothing has changed.
  HostAfter host = HostAfter::kKept;
  bool terms_changed = false;  ///< Journal the LeaseRecord too.
};

// `cleans`: a command can be run on the host. It closes the account of the lease, if there is one,
// and is the cleaning command of its pool otherwise.

/// The planner chose an instance for a waiting lease. `login`: the account that is opened there
/// before it is granted.
[[nodiscard]] LeaseOutcome placed(Lease& lease, model::InstanceId instance, model::Login login,
                                  Now now);
/// The host is ready for its holder: the term begins.
[[nodiscard]] LeaseOutcome granted(Lease& lease, Now now);
/// The host cannot be made ready for its holder. The lease waits again, and its record has no
/// instance any more; or it ends once as many different hosts as it allows could not.
[[nodiscard]] LeaseOutcome refused(Lease& lease, const std::string& why, Now now);
/// Another lease of its gang cannot be granted: it waits again, with an event. A host on which
/// somebody could log in ends.
[[nodiscard]] LeaseOutcome let_go(Lease& lease, const std::string& why);
/// A holder may renew as often as it likes: the ledger has one renewal of a lease in so long.
inline constexpr Duration kRenewalsTold = std::chrono::minutes(10);
/// The holder wants it for `term` from now on, which its pool allows. Nothing has changed: it is
/// not granted, or not any more. One of a restored state is the holder's for certain now.
[[nodiscard]] LeaseOutcome renewed(Lease& lease, Duration term, Now now);
/// The holder gives it back. A host on which somebody could log in counts as used.
[[nodiscard]] LeaseOutcome returned(Lease& lease, bool used, bool cleans, Now now);
/// A user or an admin ends it. One that is granted, or has an account, counts as used.
[[nodiscard]] LeaseOutcome cancel(Lease& lease, const std::string& actor, bool cleans, Now now);
/// The command has ended as it should, or `problem` says why not. A clean host may be used again,
/// one that had an account may not.
[[nodiscard]] LeaseOutcome cleaned(Lease& lease, const std::string& problem, Now now);
/// Its time has come, see Lease::due: it has waited too long, its term is over, or the time after
/// it. `grace`: that time, in which the processes of the account may end by themselves.
[[nodiscard]] LeaseOutcome due(Lease& lease, bool cleans, Now now, Duration grace = {});
/// The instance is gone. One that was not granted yet waits again. `was_announced`: its cloud had
/// said so before.
[[nodiscard]] LeaseOutcome host_gone(Lease& lease, const std::string& why, bool was_announced,
                                     Now now);
/// The instance has the account of a held lease, which was granted after the backup was made. Its
/// holder, who logs in so, keeps the host: a term begins now.
[[nodiscard]] LeaseOutcome taken_over(Lease& lease, model::InstanceId instance, model::Login login,
                                      Now now);
/// An admin lets a held lease wait for a host.
[[nodiscard]] LeaseOutcome release(Lease& lease, const std::string& actor);
/// Of a new lease, and after a restart: sets Lease::due by the times of its row. A clock that was
/// set back meanwhile gives it at most its whole term, or wait, anew.
void set_due(Lease& lease, Wall submitted, Now now);

}  // namespace hostler::work
