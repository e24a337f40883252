#pragma once

#include <set>

#include "core/dispatch/handlers/lease_ends.h"
#include "core/dispatch/handlers/lease_takeover.h"
#include "core/dispatch/state/gangs.h"

namespace hostler::dispatch {

/// Grants leases, and ends those whose time is over. Lending gives out the hosts.
class LeaseEvents {
 public:
  LeaseEvents(const model::SitePolicy& policy, Hosts& hosts, WaitingWork& waiting, Leases& leases,
              Gangs& gangs, HostCommands& commands, LeaseSteps& steps, LeaseAccounts& accounts,
              LeaseTakeover& takeover, LeaseEnds& ends)
      : policy_(policy),
        hosts_(hosts),
        waiting_(waiting),
        leases_(leases),
        gangs_(gangs),
        commands_(commands),
        steps_(steps),
        accounts_(accounts),
        takeover_(takeover),
        ends_(ends) {}

  /// After a restart or a reload: takes pools from a lease that lend no more for its term. A lease
  /// that has no host ends if none of its pools is left. Holders may be told of the end sooner.
  void policy_changed(Now now);
  /// Does the same for leases that had a host when their last pool stopped lending.
  void end_unlent(Now now);
  /// Ends those that have waited too long, and those whose term is over; tells holders before.
  void fire_due(Now now);
  /// Goes on with those for which a command has ended.
  void end_commands(Now now);

 private:
  /// Leaves the lease the pools that still lend for its term, or ends it.
  void choose_pools(work::Lease& lease, Now now);
  void fire(work::Lease& lease, Now now);
  /// Opens the account, which may be open, or grants the lease if it has none. After a restart its
  /// pool may connect to no host: then one with an account cannot be granted there.
  void grant_again(work::Lease& lease, const Host& host, Now now);
  void end_term(work::Lease& lease, const Host* host, Now now);
  /// The account of the lease is open, if it has one: grants the lease, or, with the last one of a
  /// gang, all of them.
  void grant(work::Lease& lease, Now now);
  void command_ended(work::Lease& lease, const HostCommands::Ended& one, Now now);
  /// The command that opens the account has ended.
  void opened(work::Lease& lease, const Host& host, const HostCommands::Ended& one, Now now);
  /// The account cannot be opened: the lease waits for another host, or ends, and this one ends.
  void refuse(work::Lease& lease, const HostCommands::Ended& opening, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  WaitingWork& waiting_;
  Leases& leases_;
  Gangs& gangs_;
  HostCommands& commands_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
  LeaseTakeover& takeover_;
  LeaseEnds& ends_;
  /// Leases of which no pool lends for their term now. They do not end yet: they have a host, or
  /// rows may be old.
  std::set<model::WorkId> unlent_;
};

}  // namespace hostler::dispatch
