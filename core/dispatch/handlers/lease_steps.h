#pragma once

#include <vector>

#include "core/dispatch/state/gangs.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// Carries out what a step of core/work decided for a lease. Its host is up to the caller, see
/// LeaseEnds.
class LeaseSteps {
 public:
  LeaseSteps(Leases& leases, Gangs& gangs, PlanState& plan, Recorder& recorder)
      : leases_(leases), gangs_(gangs), plan_(plan), recorder_(recorder) {}

  /// Journals the lease and its ledger record, and queues or forgets it. The lease may have ended:
  /// callers do not touch it afterwards.
  void apply(work::Lease& lease, work::LeaseOutcome outcome, Now now);
  /// The host of the lease is ready for its holder, and the account, if there is one, is open.
  /// Grants the lease; leases of a gang are granted with the last of them. Returns those that were
  /// granted now.
  std::vector<work::Lease*> grant(work::Lease& lease, Now now);

 private:
  Leases& leases_;
  Gangs& gangs_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
