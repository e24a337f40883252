#pragma once

#include <vector>

#include "core/dispatch/state/gangs.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/submit_checks.h"
#include "core/dispatch/state/submit_quotas.h"

namespace hostler::dispatch {

/// Accepts leases and gangs of them, or says why not.
class LeaseSubmits {
 public:
  LeaseSubmits(const model::SitePolicy& policy, const Sets& sets, Principals& principals,
               Leases& leases, Gangs& gangs, SubmitQuotas& quotas, const Menu& menu,
               const OfferedTypes& offered, PlanState& plan, Recorder& recorder)
      : checks_(policy, sets, principals, menu, offered),
        principals_(principals),
        leases_(leases),
        gangs_(gangs),
        quotas_(quotas),
        plan_(plan),
        recorder_(recorder) {}

  /// A request with a client key that names a lease already gets that lease's id.
  void on(SubmitLease& event, Now now);

 private:
  /// Those that its client key names already, if it has the same body; empty: none.
  [[nodiscard]] std::vector<model::WorkId> known_leases(const SubmitLease& event) const;
  std::vector<model::WorkId> accept(std::vector<model::WorkItem> items, const SubmitLease& event,
                                    Now now);

  const SubmitChecks checks_;
  Principals& principals_;
  Leases& leases_;
  Gangs& gangs_;
  SubmitQuotas& quotas_;
  PlanState& plan_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
