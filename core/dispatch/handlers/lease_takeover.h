#pragma once

#include <vector>

#include "core/dispatch/account_commands.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/lending.h"
#include "core/dispatch/state/host_commands.h"
#include "core/dispatch/state/lost_time.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Looks for accounts of leases on hosts. Takes over leases that were granted after the backup was
/// made that the state was restored from: hosts of before the restore have their accounts, and the
/// journal does not know of them, or has them as held.
class LeaseTakeover {
 public:
  LeaseTakeover(const model::SitePolicy& policy, Hosts& hosts, HostCommands& commands,
                WaitingWork& waiting, Leases& leases, LostTime& lost_time,
                const SetAside& set_aside, Recorder& recorder, const AccountCommands& make,
                LeaseSteps& steps, Lending& lending, InstanceSteps& instance_steps)
      : policy_(policy),
        hosts_(hosts),
        commands_(commands),
        waiting_(waiting),
        leases_(leases),
        lost_time_(lost_time),
        set_aside_(set_aside),
        recorder_(recorder),
        make_(make),
        steps_(steps),
        lending_(lending),
        instance_steps_(instance_steps) {}

  /// The host is connected: asks it for accounts, if nothing is known to use it now, and it may
  /// have been lent in the lost time, or is kept broken after a lease whose account may be open
  /// still.
  void ask(const Host& host, Now now);
  /// The host has answered: the newest lease whose account it has keeps it. The one that had it
  /// when the backup was made, and has no account there, has it no more. If no lease keeps it,
  /// nobody gets it. Returns those that have ended for certain, or have another host: their
  /// accounts are to be closed.
  std::vector<model::WorkId> found(const HostCommands::Ended& answer, Now now);

 private:
  /// The pool of the host lends, and nothing uses the host but an old lease.
  [[nodiscard]] bool may_be_lent_anew(const Host& host) const;
  /// The lease that had the host when the backup was made, and of which nobody has heard since.
  /// Null once the host has a lease that was taken over: one that lies could end each in its turn.
  [[nodiscard]] work::Lease* old_lease(const Host& host) const;
  void end_old(Host& host, model::WorkId newer, Now now);
  /// The host may be that of the lease, which is held, or whose number was given out in the lost
  /// time and is not known.
  [[nodiscard]] bool may_take(const Host& host, model::WorkId lease) const;
  /// The lease has ended, or has another host, and not since a backup.
  [[nodiscard]] bool has_left(const Host& host, model::WorkId lease) const;
  /// The lease has the host from now on.
  void take(Host& host, model::WorkId lease, Now now);
  /// Somebody could log in there: nobody else gets the host, and an admin decides.
  void keep(Host& host, model::WorkId lease, Now now);
  /// Makes a lease whose holder and term are not known: its term is the longest of its pool.
  work::Lease& make_lease(const Host& host, model::WorkId id, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  HostCommands& commands_;
  WaitingWork& waiting_;
  Leases& leases_;
  LostTime& lost_time_;
  const SetAside& set_aside_;
  Recorder& recorder_;
  const AccountCommands& make_;
  LeaseSteps& steps_;
  Lending& lending_;
  InstanceSteps& instance_steps_;
};

}  // namespace hostler::dispatch
