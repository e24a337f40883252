#pragma once

#include <string>

#include "core/dispatch/handlers/lease_accounts.h"
#include "core/dispatch/handlers/lease_ends.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/state/gangs.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Keeps the leases of gangs together until all are granted: if one of them waits again, or has
/// ended, the others do the same.
class BrokenGangs {
 public:
  BrokenGangs(const SetAside& set_aside, Hosts& hosts, WaitingWork& waiting, Leases& leases,
              Gangs& gangs, LeaseSteps& steps, LeaseAccounts& accounts, LeaseEnds& ends)
      : set_aside_(set_aside),
        hosts_(hosts),
        waiting_(waiting),
        leases_(leases),
        gangs_(gangs),
        steps_(steps),
        accounts_(accounts),
        ends_(ends) {}

  /// After a restart a gang may have lost leases: mend() looks at all that are not granted.
  void restored();
  /// The leases of a broken gang let their hosts go, or end if they cannot be granted together any
  /// more. This waits while one of these hosts is in a set whose rows may be old.
  void mend(Now now);

 private:
  /// A lease of the gang that is not granted has a host to which nothing is done now.
  [[nodiscard]] bool is_suspended(const model::Gang& gang);
  /// Why the leases of the gang cannot be granted together any more, a clause; empty: they can.
  [[nodiscard]] std::string why_apart(const model::Gang& gang);
  void mend(const Gangs::Broken& broken, Now now);
  void let_go(work::Lease& lease, Now now);

  const SetAside& set_aside_;
  Hosts& hosts_;
  WaitingWork& waiting_;
  Leases& leases_;
  Gangs& gangs_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
  LeaseEnds& ends_;
};

}  // namespace hostler::dispatch
