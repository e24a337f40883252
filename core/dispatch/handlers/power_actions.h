#pragma once

#include <vector>

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// Executes the actions of plans that switch hosts off and on. An action has no effect if the state
/// has changed so that it is no longer right.
class PowerActions {
 public:
  PowerActions(const model::SitePolicy& policy, Sets& sets, Hosts& hosts,
               const WaitingWork& waiting, const PoolBounds& bounds, CallGates& gates,
               PlanState& plan, const HostViewer& viewer, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        waiting_(waiting),
        bounds_(bounds),
        gates_(gates),
        plan_(plan),
        viewer_(viewer),
        steps_(steps) {}

  void apply(scheduler::Wake wake, Now now);
  /// All in one call, because a pool keeps no more hosts switched off than its bounds say. O(all
  /// hosts).
  void apply(const std::vector<scheduler::SwitchOff>& all, Now now);

 private:
  [[nodiscard]] bool may_switch_off(const Host& host, model::Reason code, Now now) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  const WaitingWork& waiting_;
  const PoolBounds& bounds_;
  CallGates& gates_;
  PlanState& plan_;
  const HostViewer& viewer_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
