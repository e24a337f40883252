#pragma once

#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/handlers/lending.h"
#include "core/dispatch/state/hosts.h"

namespace hostler::dispatch {

/// Restores principals, work and what is on hosts from the journal, after the instances.
class RestoredWork {
 public:
  RestoredWork(const model::SitePolicy& policy, Hosts& hosts, WaitingWork& waiting,
               Principals& principals, Jobs& jobs, Leases& leases, JobSteps& steps,
               LeaseSteps& lease_steps, Lending& lending, const LeaseAccounts& accounts)
      : policy_(policy),
        hosts_(hosts),
        waiting_(waiting),
        principals_(principals),
        jobs_(jobs),
        leases_(leases),
        steps_(steps),
        lease_steps_(lease_steps),
        lending_(lending),
        accounts_(accounts) {}

  /// Takes uses, work, attempts and client keys out of `restored`.
  void apply(model::Restored& restored, Now now);

 private:
  void take(model::WorkItem item, Now now);
  void take(const model::WorkItem& item, const model::LeaseRecord& terms, Now now);
  void take(const model::AttemptChanged& row, Now now);
  /// Ends or queues again the jobs with an attempt that is on no known host.
  void settle_orphaned_jobs(Now now);
  /// Leases with a host claim it again. Those whose host is not known end or wait again.
  void claim_hosts(Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  WaitingWork& waiting_;
  Principals& principals_;
  Jobs& jobs_;
  Leases& leases_;
  JobSteps& steps_;
  LeaseSteps& lease_steps_;
  Lending& lending_;
  const LeaseAccounts& accounts_;
};

}  // namespace hostler::dispatch
