#pragma once

#include "core/dispatch/handlers/host_closing.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/questions/leftovers.h"
#include "core/dispatch/state/questions/questions.h"
#include "core/dispatch/state/questions/watches.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Handles requests of admins about instances and gates, a reloaded configuration, and drivers that
/// were loaded for it.
class AdminRequests {
 public:
  AdminRequests(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, CallGates& gates,
                BootGates& boots, gates::Governor& governor, PlanState& plan, Recorder& recorder,
                Menu& menu, Questions& questions, Leftovers& leftovers, Watches& watches,
                const SetAside& set_aside, HostClosing& closing, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        gates_(gates),
        boots_(boots),
        governor_(governor),
        plan_(plan),
        recorder_(recorder),
        menu_(menu),
        questions_(questions),
        leftovers_(leftovers),
        watches_(watches),
        set_aside_(set_aside),
        closing_(closing),
        steps_(steps) {}

  void on(const SetIdleBehavior& event, Now now);
  void on(const KillInstance& event, Now now);
  /// Again: no effect. Whoever may submit may report.
  void on(const ReportReady& event, Now now);
  void on(const OpenGate& event, Now now);
  void on(const DriverLoaded& event, Now now);
  /// The policy was replaced. Sets and pools keep their order and names (config's diff refuses a
  /// reload that changes them); types may come, go and move. Renews what has indices of types, the
  /// menu and the hosts, and the account of the ceilings: before anything counts or views hosts.
  void renew_menu(Now now);
  /// The rest, once the bounds are those of the new policy: closes hosts, and opens gates.
  void policy_changed(Now now);

 private:
  void end_if_used(model::InstanceId id, Now now);
  /// Calls that the gate held back until its end are due now.
  void retry_now(const model::GateRecord& gate, Now now);
  void open_prices(Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  CallGates& gates_;
  BootGates& boots_;
  gates::Governor& governor_;
  PlanState& plan_;
  Recorder& recorder_;
  Menu& menu_;
  Questions& questions_;
  Leftovers& leftovers_;
  Watches& watches_;
  const SetAside& set_aside_;
  HostClosing& closing_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
