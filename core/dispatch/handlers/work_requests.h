#pragma once

#include <string>

#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/state/submit_checks.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Submits and cancels of jobs; releases of work that is held.
class WorkRequests {
 public:
  WorkRequests(const model::SitePolicy& policy, const Sets& sets, Principals& principals,
               WaitingWork& waiting, Jobs& jobs, Leases& leases, SubmitQuotas& quotas,
               const Menu& menu, const OfferedTypes& offered, PlanState& plan, Recorder& recorder,
               JobSteps& steps, LeaseSteps& lease_steps)
      : checks_(policy, sets, principals, menu, offered),
        principals_(principals),
        waiting_(waiting),
        jobs_(jobs),
        leases_(leases),
        quotas_(quotas),
        plan_(plan),
        recorder_(recorder),
        steps_(steps),
        lease_steps_(lease_steps) {}

  /// An item with a client key that names work already gets that work's id.
  void on(Submit& event, Now now);
  /// Cancels a job.
  void on(const CancelWork& event, Now now);
  void on(const ReleaseWork& event, Now now);
  void on(const CancelHeld& event, Now now);
  void on(const WorkForgotten& event);
  void on(const OutputsRemoved& event, Now now);

 private:
  /// All that is held, of each kind.
  [[nodiscard]] std::vector<model::WorkId> held() const;
  [[nodiscard]] bool is_held(model::WorkId id) const;
  model::WorkId accept(model::WorkItem item, const std::string& principal, Now now);

  const SubmitChecks checks_;
  Principals& principals_;
  WaitingWork& waiting_;
  Jobs& jobs_;
  Leases& leases_;
  SubmitQuotas& quotas_;
  PlanState& plan_;
  Recorder& recorder_;
  JobSteps& steps_;
  LeaseSteps& lease_steps_;
};

}  // namespace hostler::dispatch
