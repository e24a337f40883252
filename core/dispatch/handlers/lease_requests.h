#pragma once

#include <vector>

#include "core/dispatch/handlers/lease_ends.h"
#include "core/dispatch/state/submit_checks.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Submits of leases and gangs; renewals, returns and cancels of leases.
class LeaseRequests {
 public:
  LeaseRequests(const model::SitePolicy& policy, const Sets& sets, const Hosts& hosts,
                Principals& principals, WaitingWork& waiting, Leases& leases, Gangs& gangs,
                SubmitQuotas& quotas, const Menu& menu, const OfferedTypes& offered,
                PlanState& plan, Recorder& recorder, LeaseSteps& steps, LeaseAccounts& accounts,
                LeaseEnds& ends)
      : policy_(policy),
        checks_(policy, sets, principals, menu, offered),
        hosts_(hosts),
        principals_(principals),
        waiting_(waiting),
        leases_(leases),
        gangs_(gangs),
        quotas_(quotas),
        plan_(plan),
        recorder_(recorder),
        steps_(steps),
        accounts_(accounts),
        ends_(ends) {}

  /// A request with a client key that names a lease already gets that lease's id.
  void on(SubmitLease& event, Now now);
  void on(const ReturnLease& event, Now now);
  void on(const RenewLease& event, Now now);
  /// Cancels a lease.
  void on(const CancelWork& event, Now now);

 private:
  /// The leases that the client key names already, if the request has the same body; empty: none.
  [[nodiscard]] std::vector<model::WorkId> known_leases(const SubmitLease& event) const;
  std::vector<model::WorkId> accept(std::vector<model::WorkItem> items, const SubmitLease& event,
                                    Now now);
  /// The lease that the request is about; null: the request was answered with the reason.
  template <class Request>
  work::Lease* find(const Request& event, model::WorkId id);
  /// Answers that the lease is not granted yet.
  void refuse_early(const work::Lease& lease, Ticket ticket);
  /// True if something may be done to the host of the lease, or it has none. Otherwise answers why
  /// not.
  bool check_acts(const work::Lease& lease, Ticket ticket);

  const model::SitePolicy& policy_;
  const SubmitChecks checks_;
  const Hosts& hosts_;
  Principals& principals_;
  WaitingWork& waiting_;
  Leases& leases_;
  Gangs& gangs_;
  SubmitQuotas& quotas_;
  PlanState& plan_;
  Recorder& recorder_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
  LeaseEnds& ends_;
};

}  // namespace hostler::dispatch
