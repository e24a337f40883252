#pragma once

#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/state/hosts.h"

namespace hostler::dispatch {

/// Restores principals, jobs and their attempts from the journal, after the instances.
class RestoredWork {
 public:
  RestoredWork(const model::SitePolicy& policy, Hosts& hosts, WaitingWork& waiting,
               Principals& principals, Jobs& jobs, JobSteps& steps)
      : policy_(policy),
        hosts_(hosts),
        waiting_(waiting),
        principals_(principals),
        jobs_(jobs),
        steps_(steps) {}

  /// Takes uses, work, attempts and client keys out of `restored`.
  void apply(model::Restored& restored, Now now);

 private:
  void take(model::WorkItem item, Now now);
  void take(const model::AttemptChanged& row, Now now);
  /// Ends or queues again the jobs with an attempt that is on no known host.
  void settle_orphaned_jobs(Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  WaitingWork& waiting_;
  Principals& principals_;
  Jobs& jobs_;
  JobSteps& steps_;
};

}  // namespace hostler::dispatch
