#pragma once

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/creates.h"
#include "core/dispatch/handlers/power_actions.h"
#include "core/dispatch/handlers/snapshot_maker.h"

namespace hostler::dispatch {

/// Requests plans and applies them. The state may have changed since the snapshot of a plan.
class PlanEvents {
 public:
  PlanEvents(const model::SitePolicy& policy, const Sets& sets, Hosts& hosts,
             scheduler::Governor& governor, PlanState& plan, Recorder& recorder,
             const HostViewer& viewer, const SnapshotMaker& snapshots, InstanceSteps& steps,
             AttemptEvents& attempts, Creates& creates, PowerActions& power)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        governor_(governor),
        plan_(plan),
        recorder_(recorder),
        viewer_(viewer),
        snapshots_(snapshots),
        steps_(steps),
        attempts_(attempts),
        creates_(creates),
        power_(power) {}

  /// Sends a snapshot to the planner if a plan is due.
  void send_due(Now now);
  void on(PlanMade& event, Now now);
  /// Views touched hosts again, and requests a plan if the planner would see one differently.
  void refresh_views();

 private:
  void apply_plan(scheduler::Plan& plan, Now now);
  void apply(const scheduler::Place& place, Now now);
  void apply(const scheduler::Shutdown& shutdown, Now now);
  /// True if the shutdown is still right: since the plan was made, the host has got no work and no
  /// hold, and the reason still holds.
  [[nodiscard]] bool still_holds(const scheduler::Shutdown& shutdown, const Host& host,
                                 Now now) const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Hosts& hosts_;
  scheduler::Governor& governor_;
  PlanState& plan_;
  Recorder& recorder_;
  const HostViewer& viewer_;
  const SnapshotMaker& snapshots_;
  InstanceSteps& steps_;
  AttemptEvents& attempts_;
  Creates& creates_;
  PowerActions& power_;
};

}  // namespace hostler::dispatch
