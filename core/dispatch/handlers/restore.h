#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// After a restart: takes up the journal's state as it stood. Reports of clouds and hosts correct
/// it then.
class Restore {
 public:
  Restore(InstanceSteps::Owners owners, Menu& menu, SetAside& set_aside, JobSteps& job_steps,
          InstanceSteps& steps)
      : owners_(owners), menu_(menu), set_aside_(set_aside), job_steps_(job_steps), steps_(steps) {}

  /// Once, before any event. True: an instance of the journal has no set in the policy, so nobody
  /// looks after it.
  bool apply(model::Restored restored, Now now);

 private:
  bool take(model::InstanceChanged row, Now now);
  void take(model::WorkItem item, Now now);
  void take(const model::AttemptChanged& row);
  /// Jobs whose attempt is on no host any more.
  void settle_orphaned_jobs(Now now);
  void adopt_all(Now now);

  const InstanceSteps::Owners owners_;
  Menu& menu_;
  SetAside& set_aside_;
  JobSteps& job_steps_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
