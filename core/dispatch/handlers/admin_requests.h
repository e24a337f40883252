#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Handles requests of admins about instances, and a reloaded configuration.
class AdminRequests {
 public:
  AdminRequests(InstanceSteps::Owners owners, Menu& menu, const SetAside& set_aside,
                InstanceSteps& steps)
      : owners_(owners), menu_(menu), set_aside_(set_aside), steps_(steps) {}

  void on(const SetIdleBehavior& event, Now now);
  void on(const KillInstance& event, Now now);
  /// The policy was replaced. Sets and pools keep their order and names (config's diff refuses a
  /// reload that changes them); types may come, go and move.
  void policy_changed(Now now);

 private:
  const InstanceSteps::Owners owners_;
  Menu& menu_;
  const SetAside& set_aside_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
