#pragma once

#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// Carries out what a step of core/work decided for a job.
class JobSteps {
 public:
  JobSteps(Jobs& jobs, PlanState& plan, Recorder& recorder)
      : jobs_(jobs), plan_(plan), recorder_(recorder) {}

  /// Journals the job and its ledger record, and queues it, kills its attempt or forgets it. The
  /// job may have ended: callers do not touch it afterwards.
  void apply(work::Job& job, work::Outcome outcome, Now now);

 private:
  Jobs& jobs_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
