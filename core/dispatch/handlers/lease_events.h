#pragma once

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/submit_checks.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Lends hosts: requests of holders, grants, the ends of terms, and what becomes of hosts then.
class LeaseEvents {
 public:
  /// See handlers.cc for what it is given.

  /// A request with a client key that names a lease already gets that lease's id.
  void on(SubmitLease& event, Now now);
  void on(const ReturnLease& event, Now now);
  void on(const RenewLease& event, Now now);
  /// Of a lease.
  void on(const CancelWork& event, Now now);
  /// A plan gives the host to the first lease of the class. False if that cannot be done any more.
  bool place(Host& host, demand::ClassId cls, Now now);
  /// The end of a cleaning command.
  void on(Host& host, const model::CommandEnded& event, Now now);
  /// Ends those that have waited too long, and those whose term is over.
  void fire_due(Now now);
};

}  // namespace hostler::dispatch
