#pragma once

#include <vector>

#include "core/daemon/clouds.h"
#include "core/daemon/planner.h"
#include "core/daemon/tickets.h"
#include "core/dispatch/events.h"
#include "core/hosts/hosts.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Hands effects over to whoever executes them, in order. Never blocks and does no work of its own.
/// Any thread.
class Effects {
 public:
  struct Targets {
    Clouds* clouds = nullptr;
    hosts::Hosts* hosts = nullptr;
    Planner* planner = nullptr;
    Tickets* tickets = nullptr;
  };
  explicit Effects(Targets targets) : targets_(targets) {}

  /// `bodies`: of the jobs that the effects start.
  void issue(std::vector<dispatch::Effect> effects,
             const std::vector<store::Committed::Body>& bodies);

 private:
  const Targets targets_;
};

}  // namespace hostler::daemon
