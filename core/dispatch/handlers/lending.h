#pragma once

#include <vector>

#include "core/dispatch/handlers/lease_accounts.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/hosts.h"

namespace hostler::dispatch {

/// Lends empty hosts, each of them whole, to the leases whose turn it is.
class Lending {
 public:
  Lending(const model::SitePolicy& policy, const WaitingWork& waiting, Leases& leases,
          const HostViewer& viewer, Recorder& recorder, LeaseSteps& steps, LeaseAccounts& accounts)
      : policy_(policy),
        waiting_(waiting),
        leases_(leases),
        viewer_(viewer),
        recorder_(recorder),
        steps_(steps),
        accounts_(accounts) {}

  /// Lends the host to the next lease of the class. The host was proved when it became ready, so
  /// that the lease is granted at once, or as soon as its account is open. False if that cannot be
  /// done any more.
  bool place(Host& host, demand::ClassId cls, Now now);
  /// Lends a host to each lease of a gang. False if that cannot be done any more: then to none.
  bool place_gang(const std::vector<Host*>& hosts, demand::ClassId cls, Now now);
  /// The host is proved anew, after a lost connection or a restart: goes on with what its lease
  /// needs.
  void connected(const Host& host, Now now);
  /// After a restart: the lease claims the host as before. Where no connection proves the host
  /// anew, a grant that the restart came between is due now.
  void claim(Host& host, work::Lease& lease, Now now);

 private:
  /// Grants a lease that is placed, or has its account opened first.
  void grant(const Host& host, work::Lease& lease, Now now);
  [[nodiscard]] bool may_lend(const Host& host) const;
  /// Lends the host, which may be lent, to the next lease of the class.
  void lend(Host& host, demand::ClassId cls, Now now);
  /// The resources of the host that work may use.
  /// It may lend the host to work of the shape, and has what that needs.
  [[nodiscard]] bool suits(const Host& host, const model::WorkShape& shape) const;
  [[nodiscard]] model::Resources room_of(const Host& host) const;

  const model::SitePolicy& policy_;
  const WaitingWork& waiting_;
  Leases& leases_;
  const HostViewer& viewer_;
  Recorder& recorder_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
};

}  // namespace hostler::dispatch
