#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch/state/bound_decisions.h"
#include "core/dispatch/state/expressions.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/metrics/metrics.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/waiting_work.h"

namespace hostler::dispatch {

/// Reads the metrics of the source `hostler`: hosts and waiting work of this site.
class OwnCounts {
 public:
  struct Owners {
    const model::SitePolicy& policy;
    const HostViewer& viewer;
    const Menu& menu;
    Hosts& hosts;
    const WaitingWork& waiting;
    Metrics& metrics;
    const Expressions& expressions;
    BoundDecisions& decisions;
    PlanState& plan;
  };
  explicit OwnCounts(const Owners& owners) : owners_(owners) {}

  /// Reads all of the policy now. After Metrics::configure().
  void policy_changed(Now now);
  /// Reads those that are due. Returns the pools with bounds that they concern, some twice.
  /// O(hosts) for each, and as QueueCounts::of().
  std::vector<std::uint32_t> count_due(Now now);

 private:
  /// Why it is not known, if it is not.
  [[nodiscard]] Result<std::int64_t> count(const model::OwnCount& own);

  const Owners owners_;
};

}  // namespace hostler::dispatch
