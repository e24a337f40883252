#pragma once

#include <string>

#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/state/submit_checks.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Submits, cancels and releases.
class WorkRequests {
 public:
  WorkRequests(const model::SitePolicy& policy, const Sets& sets, Principals& principals,
               WaitingWork& waiting, Jobs& jobs, SubmitQuotas& quotas, const Menu& menu,
               const OfferedTypes& offered, PlanState& plan, Recorder& recorder, JobSteps& steps)
      : checks_(policy, sets, principals, menu, offered),
        principals_(principals),
        waiting_(waiting),
        jobs_(jobs),
        quotas_(quotas),
        plan_(plan),
        recorder_(recorder),
        steps_(steps) {}

  /// An item with a client key that names work already gets that work's id.
  void on(Submit& event, Now now);
  void on(const CancelWork& event, Now now);
  void on(const ReleaseWork& event, Now now);
  void on(const CancelHeld& event, Now now);
  void on(const WorkForgotten& event);
  void on(const OutputsRemoved& event, Now now);

 private:
  model::WorkId accept(model::WorkItem item, const std::string& principal, Now now);

  const SubmitChecks checks_;
  Principals& principals_;
  WaitingWork& waiting_;
  Jobs& jobs_;
  SubmitQuotas& quotas_;
  PlanState& plan_;
  Recorder& recorder_;
  JobSteps& steps_;
};

}  // namespace hostler::dispatch
