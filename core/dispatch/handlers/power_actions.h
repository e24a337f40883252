#pragma once

#include <vector>

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// Switches hosts off and on, as plans say. An action has no effect if the world has moved on.
class PowerActions {
 public:
  PowerActions(InstanceSteps::Owners owners, const HostViewer& viewer, InstanceSteps& steps)
      : owners_(owners), viewer_(viewer), steps_(steps) {}

  void apply(scheduler::Wake wake, Now now);
  /// Together, for a pool keeps no more than `stopped` hosts switched off. O(all hosts).
  void apply(const std::vector<scheduler::SwitchOff>& all, Now now);

 private:
  [[nodiscard]] bool may_switch_off(const Host& host, Now now) const;

  const InstanceSteps::Owners owners_;
  const HostViewer& viewer_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
