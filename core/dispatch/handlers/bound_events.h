#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/own_counts.h"
#include "core/dispatch/state/bound_decisions.h"
#include "core/dispatch/state/expression_inputs.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/waiting_work.h"

namespace hostler::dispatch {

/// Readings of metrics, and the bounds of pools that are expressions over them: one more source of
/// bounds, `expression`.
class BoundEvents {
 public:
  struct Owners {
    const model::SitePolicy& policy;
    const HostViewer& viewer;
    const Menu& menu;
    Hosts& hosts;
    const WaitingWork& waiting;
    Metrics& metrics;
    Zones& zones;
    Expressions& expressions;
    PoolBounds& bounds;
    BoundDecisions& decisions;
    PlanState& plan;
    Recorder& recorder;
  };
  BoundEvents(const Owners& owners, OwnCounts& own_counts)
      : owners_(owners), inputs_(owners.metrics, owners.zones), own_counts_(own_counts) {}

  /// Compiles the texts and evaluates them: after a restart before the first plan, and with a new
  /// policy before its hosts are closed.
  void policy_changed(Now now);
  /// A set has opened or closed, so its hosts may be counted as others: evaluates all before the
  /// next plan.
  void sets_changed(Now now);
  /// The bounds that the metrics concern are evaluated at the next tick.
  void on(const MetricsRead& event, Now now);
  void on(const ZonesRead& event, Now now);
  void on(const PastRead& event, Now now);
  /// Counts what metrics count of ourselves, and evaluates the pools that are due. True: a metric
  /// was read since the last time, or the regular time has come.
  bool fire_due(Now now);

 private:
  void evaluate_all(Now now);
  /// Also those that come twice. O(hosts + inputs), and as QueueCounts::of() for each.
  void evaluate(std::vector<std::uint32_t> pools, Now now);
  void evaluate(std::uint32_t pool, const PoolCounts& counts, Now now);
  /// What has changed since the last time, in the ledger.
  void tell(std::uint32_t pool, const scheduler::BoundNote& note, Now now);
  void tell_ceiling(std::uint32_t pool, Now now);

  const Owners owners_;
  const ExpressionInputs inputs_;
  OwnCounts& own_counts_;
};

}  // namespace hostler::dispatch
