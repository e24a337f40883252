#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// Readings of the cards of hosts.
class CardEvents {
 public:
  CardEvents(const model::SitePolicy& policy, Hosts& hosts, Menu& menu, PlanState& plan,
             Recorder& recorder, InstanceSteps& steps)
      : policy_(policy),
        hosts_(hosts),
        menu_(menu),
        plan_(plan),
        recorder_(recorder),
        steps_(steps) {}

  /// If its type has cards, tells what is new: a host whose cards are all lost, cannot be read or
  /// are unsteady is broken, and one that is new ends for it: look it up again.
  void take(Host& host, const model::CardReport& report, Now now);
  /// After take(): the first good reading of a host that is healthy and had no work. New hosts of
  /// its type are expected to be alike.
  void learn(const Host& host, Now now);

 private:
  const model::SitePolicy& policy_;
  Hosts& hosts_;
  Menu& menu_;
  PlanState& plan_;
  Recorder& recorder_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
