#pragma once

#include <string>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/expression_inputs.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/waiting_work.h"

namespace hostler::dispatch {

/// What is done before a host goes because of its pool's bounds (`scaling.drain`): the host is
/// closed, a command runs once, and then the host is to become quiet.
class Drains {
 public:
  struct Owners {
    const model::SitePolicy& policy;
    const HostViewer& viewer;
    Hosts& hosts;
    const Metrics& metrics;
    const Zones& zones;
    const Expressions& expressions;
    const WaitingWork& waiting;
    const Menu& menu;
    PlanState& plan;
    Recorder& recorder;
  };
  Drains(const Owners& owners, InstanceSteps& steps)
      : owners_(owners), inputs_(owners.metrics, owners.zones), steps_(steps) {}

  /// A plan begins a drain. No effect if the host has got work or a hold since the plan was made,
  /// or drains already.
  void apply(const scheduler::Drain& drain, Now now);
  void on(const DrainEnded& event, Now now);
  /// Ends the drains of the hosts that are quiet. What is not known is not quiet, whatever
  /// `on_failure` says, and what was measured before the end of the command says nothing. O(hosts),
  /// if one drains.
  void look(Now now);
  /// Ends the drains whose time has passed.
  void fire_due(Now now);

 private:
  /// Bounds may let it go, as far as the host is concerned.
  [[nodiscard]] bool may_go(const Host& host, Now now) const;
  /// Why it is quiet; empty: it is not, as far as is known.
  [[nodiscard]] std::string why_quiet(const fleet::Instance& instance, const PoolCounts& counts,
                                      Now now) const;

  const Owners owners_;
  const ExpressionInputs inputs_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
