#pragma once

#include <optional>

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/creates.h"
#include "core/dispatch/handlers/drains.h"
#include "core/dispatch/handlers/power_actions.h"
#include "core/dispatch/handlers/push_events.h"
#include "core/dispatch/handlers/snapshot_maker.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/rests.h"
#include "core/dispatch/state/waiting_work.h"

namespace hostler::dispatch {

/// Requests plans and applies them. The state may have changed since the snapshot of a plan.
class PlanEvents {
 public:
  struct Work {
    WaitingWork& waiting;
    Gangs& gangs;
  };
  struct Actions {
    Creates& creates;
    PowerActions& power;
    Drains& drains;
    PushEvents& pushes;
  };
  PlanEvents(const model::SitePolicy& policy, const Work& work, Hosts& hosts, PoolBounds& bounds,
             Rests& rests, const Pushes& pushes, gates::Governor& governor, PlanState& plan,
             Recorder& recorder, const HostViewer& viewer, const SnapshotMaker& snapshots,
             InstanceSteps& steps, AttemptEvents& attempts, const Actions& actions)
      : policy_(policy),
        work_(work),
        hosts_(hosts),
        bounds_(bounds),
        rests_(rests),
        pushes_(pushes),
        governor_(governor),
        plan_(plan),
        recorder_(recorder),
        viewer_(viewer),
        snapshots_(snapshots),
        steps_(steps),
        attempts_(attempts),
        actions_(actions) {}

  /// Sends a snapshot to the planner if a plan is due.
  void send_due(Now now);
  void on(PlanMade& event, Now now);
  /// Applies the next slice of a plan that places much. Its other actions come with the last one.
  void apply_more(Now now);
  /// Views touched hosts again, and requests a plan if the planner would see one differently.
  void refresh_views();

 private:
  /// False: some places are left.
  bool place_some(Now now);
  /// All but the places.
  void apply_rest(scheduler::Plan& plan, Now now);
  void apply(const scheduler::Place& place, Now now);
  /// Those of the gang that begin at `first`, all or none. Returns the last of them.
  std::size_t place_gang(const std::vector<scheduler::Place>& places, std::size_t first, Now now);
  void apply(const scheduler::Shutdown& shutdown, Now now);
  /// Takes jobs that were cancelled from the load of the hosts that come for them, the youngest
  /// first. O(hosts), if any were.
  void drop_cancelled();
  /// After an exchange: what it was made by is an ordinary host of the pool. True: there was one.
  bool end_exchange(std::uint32_t pool);
  /// True if the shutdown is still right: since the plan was made, the host has got no work and no
  /// hold, the reason still holds, and its scheduler has not taken back that it may end.
  [[nodiscard]] bool still_holds(const scheduler::Shutdown& shutdown, const Host& host,
                                 Now now) const;

  const model::SitePolicy& policy_;
  const Work work_;
  Hosts& hosts_;
  PoolBounds& bounds_;
  Rests& rests_;
  const Pushes& pushes_;
  gates::Governor& governor_;
  PlanState& plan_;
  Recorder& recorder_;
  const HostViewer& viewer_;
  const SnapshotMaker& snapshots_;
  InstanceSteps& steps_;
  AttemptEvents& attempts_;
  const Actions actions_;
  /// The plan that is being applied, and so many of its places are.
  struct Applied {
    PlanMade made;
    std::size_t placed = 0;
  };
  std::optional<Applied> applied_;
};

}  // namespace hostler::dispatch
