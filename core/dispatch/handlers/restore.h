#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Restores the state of the journal after a restart. Later reports of clouds and hosts correct
/// it.
class Restore {
 public:
  Restore(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, Jobs& jobs, CallGates& gates,
          BootGates& boots, scheduler::Governor& governor, Recorder& recorder, Menu& menu,
          SetAside& set_aside, JobSteps& job_steps, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        jobs_(jobs),
        gates_(gates),
        boots_(boots),
        governor_(governor),
        recorder_(recorder),
        menu_(menu),
        set_aside_(set_aside),
        job_steps_(job_steps),
        steps_(steps) {}

  /// Call it once, before any event. True: an instance of the journal has no set in the policy, so
  /// it is not managed.
  bool apply(model::Restored restored, Now now);

 private:
  bool take(model::InstanceChanged row, Now now);
  void take(model::WorkItem item, Now now);
  void take(const model::AttemptChanged& row, Now now);
  /// Ends or queues again the jobs with an attempt that is on no known host.
  void settle_orphaned_jobs(Now now);
  void adopt_all(Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  Jobs& jobs_;
  CallGates& gates_;
  BootGates& boots_;
  scheduler::Governor& governor_;
  Recorder& recorder_;
  Menu& menu_;
  SetAside& set_aside_;
  JobSteps& job_steps_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
