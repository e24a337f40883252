#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/amounts.h"
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
  /// The whole of its host, whose price counts as more than 0 also if the host costs nothing;
  /// price 0: it has no host. dispatch::Leases sets it.
  model::Amounts held;
  bool queued = true;
  /// When due() is to be called. The wall clock may be set, so only a restart looks at the times of
  /// the row.
  Mono due = Mono::max();
  Mono wait_until = Mono::max();     ///< The end of its `wait_max`, see grant_by().
  Mono notice = Mono::max();         ///< When its holder is to be told of the end.
  Mono renewal_tells = Mono::min();  ///< The ledger has no other renewal before then.
  /// How far its holder is told of the end.
  struct Telling {
    /// The end that a notice under way tells; LeaseRecord::told once it was given. Unset: none is.
    std::optional<Wall> under_way;
    Mono again = Mono::min();  ///< No notice of another end of the term is given before then.
  } telling;
  /// How far its account on this host is opened.
  struct Opening {
    bool is_done = false;       ///< It is ready, and waits for the others of its gang.
    std::uint32_t unknown = 0;  ///< How many tries have ended in an unknown way.
  } opening;
  model::WorkRecord record;
  model::LeaseRecord terms;

  [[nodiscard]] model::WorkId id() const { return record.id; }
  [[nodiscard]] model::WorkState state() const { return record.state; }
  /// It has a host, as far as its record says.
  [[nodiscard]] bool has_host() const;
  /// It ends then if it waits or is being granted. One of a restored state that is being granted
  /// does not: it may have been granted after the backup was made.
  [[nodiscard]] Mono grant_by() const { return record.restored ? Mono::max() : wait_until; }
  /// Somebody may log in on its host.
  [[nodiscard]] bool has_account() const { return terms.login != model::Login::kNone; }
};

/// The fate of the host after a step.
enum class HostAfter : std::uint8_t {
  kKept,   ///< The lease goes on, or has no host.
  kReady,  ///< Nobody has used it: it takes other work at once.
  kClean,  ///< Run the cleaning command of its pool, then tell cleaned().
  kClose,  ///< Close the account of the lease, then tell cleaned().
  kEnded,  ///< It may have been changed: nobody else gets it.
};
struct LeaseOutcome {
  Outcome work;  ///< Nothing has changed if the event came in a state that it is not for.
  HostAfter host = HostAfter::kKept;
  bool terms_changed = false;  ///< Journal the LeaseRecord too.
  std::string problem = {};    ///< Why the host was not cleaned, or the account not closed.
};

// `cleans`: a command can be run on the host now: the one that closes the account of the lease, or,
// if it has none, the cleaning command of its pool.

/// The planner chose an instance for a waiting lease. `login`: the account that is opened there
/// before it is granted.
[[nodiscard]] LeaseOutcome placed(Lease& lease, model::InstanceId instance, model::Login login,
                                  Now now);
/// The host is ready for its holder: the term begins.
[[nodiscard]] LeaseOutcome granted(Lease& lease, Now now);
/// The host cannot be made ready for its holder. The lease waits again, without an instance in its
/// record; or it ends, if start_failures_max different hosts could not be made ready.
[[nodiscard]] LeaseOutcome refused(Lease& lease, const std::string& why, Now now);
/// Another lease of its gang cannot be granted: it waits again, with an event. A host on which
/// somebody could log in ends.
[[nodiscard]] LeaseOutcome let_go(Lease& lease, const std::string& why);
/// The ledger has one renewal of a lease in this time, as a holder may renew as often as it likes.
inline constexpr Duration kRenewalsTold = std::chrono::minutes(10);
/// The holder wants it for `term` from now on, which its pool allows. Nothing changes unless it is
/// granted. A renewal shows that a lease of a restored state is still its holder's.
[[nodiscard]] LeaseOutcome renewed(Lease& lease, Duration term, Now now);
/// The holder gives it back. A host on which somebody could log in counts as used.
[[nodiscard]] LeaseOutcome returned(Lease& lease, bool used, bool cleans, Now now);
/// A user or an admin ends it. One that is granted, or has an account, counts as used.
[[nodiscard]] LeaseOutcome cancel(Lease& lease, const std::string& actor, bool cleans, Now now);
/// The command has ended as it should, or `problem` says why not. A clean host may be used again,
/// one that had an account may not.
[[nodiscard]] LeaseOutcome cleaned(Lease& lease, const std::string& problem, Now now);
/// Its time has come: it was not granted in time, see Lease::grant_by(), or its term or its grace
/// is over. `grace`: the time after the term in which the processes of the account may end by
/// themselves.
[[nodiscard]] LeaseOutcome due(Lease& lease, bool cleans, Now now, Duration grace = {});
/// The instance is being destroyed, and not because of the lease. A lease that was not granted yet
/// waits again. A granted one is its holder's no more, and ends when the instance is gone.
/// `was_announced`: its cloud had said so before.
[[nodiscard]] LeaseOutcome host_ends(Lease& lease, const std::string& why, bool was_announced);
/// The instance is gone. A lease that was not granted yet waits again.
[[nodiscard]] LeaseOutcome host_gone(Lease& lease, const std::string& why, bool was_announced,
                                     Now now);
/// The instance has the account of a held lease, which was granted after the backup was made. Its
/// holder, who logs in so, keeps the host: a term begins now.
[[nodiscard]] LeaseOutcome taken_over(Lease& lease, model::InstanceId instance, model::Login login,
                                      Now now);
/// An admin lets a held lease wait for a host.
[[nodiscard]] LeaseOutcome release(Lease& lease, const std::string& actor);
/// For a new lease, and after a restart: sets Lease::due by the times of its row. If the clock was
/// set back meanwhile, it gets at most its whole term, or wait, anew.
void set_due(Lease& lease, Wall submitted, Now now);

}  // namespace hostler::work
