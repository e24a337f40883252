#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/dispatch/state/create_refusals.h"
#include "core/dispatch/state/gangs.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/metrics/metrics.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/pushes.h"
#include "core/dispatch/state/rests.h"
#include "core/dispatch/state/running_limits.h"
#include "core/dispatch/state/set_aside.h"
#include "core/gates/governor.h"

namespace hostler::dispatch {

/// Makes the snapshot for the planner: copies of hosts, waiting classes and offerings.
class SnapshotMaker {
 public:
  struct Work {
    const Jobs& jobs;
    const Leases& leases;
    const Gangs& gangs;
  };
  struct OfPools {
    const PoolBounds& bounds;
    const Rests& rests;
    const Pushes& pushes;
    const Metrics& metrics;  ///< Of which hosts have a rank.
  };
  SnapshotMaker(const model::SitePolicy& policy, const Sets& sets, const Hosts& hosts,
                const Principals& principals, const WaitingWork& waiting, const Work& work,
                const Menu& menu, const CreateRefusals& refusals, const HostViewer& viewer,
                const SetAside& set_aside, const OfPools& of_pools, const CallGates& gates,
                const gates::Governor& governor, const RunningLimits& limits)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        principals_(principals),
        waiting_(waiting),
        work_(work),
        menu_(menu),
        refusals_(refusals),
        viewer_(viewer),
        set_aside_(set_aside),
        of_pools_(of_pools),
        gates_(gates),
        governor_(governor),
        limits_(limits) {}

  struct Made {
    std::shared_ptr<const scheduler::Snapshot> snapshot;
    Mono wake;  ///< When a plan is needed even if nothing changes; or earlier.
  };
  /// O(hosts + classes + offerings + principals), and as RunningLimits::caps().
  [[nodiscard]] Made make(Now now) const;

 private:
  // Each returns the earliest `wake` of its part.
  Mono add_hosts(scheduler::Snapshot& out, Now now) const;
  /// Adds what plans know of gangs: nothing, if none waits.
  Mono add_gangs(scheduler::Snapshot& out, Now now) const;
  [[nodiscard]] std::optional<Mono> lent_until(const Host& host, Now now) const;
  Mono add_offerings(scheduler::Snapshot& out, Now now) const;
  /// Where a cloud's quota holds back an offering: the groups of all.
  void add_quota_groups(scheduler::Snapshot& out) const;
  void add_headroom(scheduler::Snapshot& out, Now now) const;
  /// What runs on hosts that will be interrupted, and what outside schedulers ask for: room is
  /// found for it, and it is not placed.
  void add_displaced(scheduler::Snapshot& out, Now now) const;
  void add_tasks(std::vector<demand::ClassView>& out, Now now) const;
  /// Displaced items of one class and principal.
  struct Part {
    std::uint64_t items = 0;
    model::Micros held;  ///< What their parts of hosts cost now, which is free once they wait.
  };
  using Displaced = std::map<demand::ClassId, std::map<demand::PrincipalId, Part>>;
  void add_views(const Displaced& displaced, std::vector<demand::ClassView>& out) const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  const Hosts& hosts_;
  const Principals& principals_;
  const WaitingWork& waiting_;
  const Work work_;
  const Menu& menu_;
  const CreateRefusals& refusals_;
  const HostViewer& viewer_;
  const SetAside& set_aside_;
  const OfPools of_pools_;
  const CallGates& gates_;
  const gates::Governor& governor_;
  const RunningLimits& limits_;
};

}  // namespace hostler::dispatch
