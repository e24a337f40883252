#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/lease_accounts.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/handlers/lease_takeover.h"
#include "core/dispatch/state/gangs.h"

namespace hostler::dispatch {

/// Requests of holders, the ends of leases, and what becomes of their hosts then. Lending gives out
/// the hosts.
class LeaseEvents {
 public:
  LeaseEvents(const model::SitePolicy& policy, Hosts& hosts, const Principals& principals,
              WaitingWork& waiting, Leases& leases, Gangs& gangs, HostCommands& commands,
              Recorder& recorder, LeaseSteps& steps, LeaseAccounts& accounts,
              LeaseTakeover& takeover, InstanceSteps& instance_steps, AttemptEvents& attempts)
      : policy_(policy),
        hosts_(hosts),
        principals_(principals),
        waiting_(waiting),
        leases_(leases),
        gangs_(gangs),
        commands_(commands),
        recorder_(recorder),
        steps_(steps),
        accounts_(accounts),
        takeover_(takeover),
        instance_steps_(instance_steps),
        attempts_(attempts) {}

  void on(const ReturnLease& event, Now now);
  void on(const RenewLease& event, Now now);
  /// Of a lease.
  void on(const CancelWork& event, Now now);
  /// After a restart or a reload: of the pools that a lease may use, some may lend no more for so
  /// long. It ends if none is left before it has a host. Holders may be told of the end sooner.
  void policy_changed(Now now);
  /// Of leases that were granting when their last pool lent no more, and wait again: likewise.
  void end_unlent(Now now);
  /// Ends those that have waited too long, and those whose term is over; tells holders before.
  void fire_due(Now now);
  /// Goes on with those for which a command has ended.
  void end_commands(Now now);
  /// Of gangs of which a lease that was not granted waits again or has ended: the others let their
  /// hosts go, or end too.
  void mend_gangs(Now now);

 private:
  /// The lease that the request is about; null: the request was answered with the reason.
  template <class Request>
  work::Lease* find(const Request& event, model::WorkId id);
  /// Answers that the lease is not granted yet.
  void refuse_early(const work::Lease& lease, Ticket ticket);
  /// Answers why nothing is done to the host of the lease. True: it may be, or there is none.
  bool check_acts(const work::Lease& lease, Ticket ticket);
  /// Null: it has none.
  [[nodiscard]] const Host* host_of(const work::Lease& lease) const;
  /// A command that cleans the host, or closes the account, can be run there now.
  [[nodiscard]] bool cleans(const work::Lease& lease) const;
  /// Leaves the lease the pools that lend so still, or ends it.
  void choose_pools(work::Lease& lease, Now now);
  void fire(work::Lease& lease, Now now);
  /// Opens the account, which may be open, or grants the lease if it has none. After a restart its
  /// pool may connect to no host: then one with an account cannot be granted there.
  void grant_again(work::Lease& lease, const Host& host, Now now);
  void end_term(work::Lease& lease, const Host* host, Now now);
  void apply(work::Lease& lease, work::LeaseOutcome outcome, const char* actor, Now now);
  void mend(const model::Gang& gang, Now now);
  void let_go(work::Lease& lease, Now now);
  /// The lease has the host no more, which takes other work or ends.
  void leave(Host& host, model::WorkId lease, work::HostAfter after, bool was_used,
             const char* actor, Now now);
  /// Its account is open, if it has one: it is granted, one of a gang with all others.
  void grant(work::Lease& lease, const Host& host, Now now);
  /// The lease leaves the host, which may be kept: no account is left there.
  void close_left(model::InstanceId on, model::WorkId lease, Now now);
  void command_ended(work::Lease& lease, const HostCommands::Ended& one, Now now);
  /// The command that opens the account has ended.
  void opened(work::Lease& lease, const Host& host, const HostCommands::Ended& one, Now now);
  /// The account cannot be opened: the lease waits for another host, or ends, and this one ends.
  void refuse(work::Lease& lease, const HostCommands::Ended& opening, Now now);
  void clean(const Host& host, model::WorkId lease, Now now);
  /// Nobody else gets the host.
  void end(Host& host, model::WorkId lease, const char* actor, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  const Principals& principals_;
  WaitingWork& waiting_;
  Leases& leases_;
  Gangs& gangs_;
  HostCommands& commands_;
  Recorder& recorder_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
  LeaseTakeover& takeover_;
  InstanceSteps& instance_steps_;
  AttemptEvents& attempts_;
  std::set<model::WorkId> unlent_;  ///< They are granting, and no pool of theirs lends so now.
};

}  // namespace hostler::dispatch
