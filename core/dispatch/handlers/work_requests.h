#pragma once

#include <string>
#include <vector>

#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/offered_types.h"
#include "core/dispatch/state/sets.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Submits, cancels and releases.
class WorkRequests {
 public:
  WorkRequests(const model::SitePolicy& policy, const Sets& sets, Jobs& jobs, SubmitQuotas& quotas,
               const Menu& menu, const OfferedTypes& offered, PlanState& plan, Recorder& recorder,
               JobSteps& steps)
      : policy_(policy),
        sets_(sets),
        jobs_(jobs),
        quotas_(quotas),
        menu_(menu),
        offered_(offered),
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
  /// All reasons to refuse a submit, so that it is accepted as a whole or not at all.
  [[nodiscard]] Result<void> check(const Submit& event) const;
  [[nodiscard]] Result<void> check_shape(const model::WorkShape& shape) const;
  model::WorkId accept(model::WorkItem item, const std::string& principal, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Jobs& jobs_;
  SubmitQuotas& quotas_;
  const Menu& menu_;
  const OfferedTypes& offered_;
  PlanState& plan_;
  Recorder& recorder_;
  JobSteps& steps_;
};

}  // namespace hostler::dispatch
