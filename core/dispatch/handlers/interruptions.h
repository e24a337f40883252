#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/handlers/lease_accounts.h"

namespace hostler::dispatch {

/// What follows from notices that clouds take instances back, from all sources: the cordon, the
/// interruption commands beside jobs, what holders are told, and the end of restartable jobs just
/// before the interruption.
class Interruptions {
 public:
  Interruptions(const model::SitePolicy& policy, Hosts& hosts, Jobs& jobs, Recorder& recorder,
                JobSteps& job_steps, LeaseAccounts& accounts, InstanceSteps& steps)
      : policy_(policy),
        hosts_(hosts),
        jobs_(jobs),
        recorder_(recorder),
        job_steps_(job_steps),
        accounts_(accounts),
        steps_(steps) {}

  /// See fleet::noticed(). `actor`: of the ledger record.
  void noticed(Host& host, model::Notice notice, const char* actor, Now now);
  /// A list shows the instance, with or without a notice. True: that is a notice, or ends one.
  bool listed(Host& host, const model::ListedInstance& seen, Now now);
  void on(Host& host, const model::HostInterruption& event, Now now);
  /// Deadlines of notices that have passed.
  void fire_due(Now now);
  /// The host is connected anew, and its attempts are known: what it was told may have been lost.
  void connected(Host& host, Now now);
  /// An attempt has started on the host: it is told of an interruption too.
  void started(Host& host, Now now) { act(host, now); }

 private:
  void apply(Host& host, fleet::Outcome outcome, const char* actor, Now now);
  void act(Host& host, Now now);
  void tell(Host& host, Now now);
  void end_work(Host& host, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  Jobs& jobs_;
  Recorder& recorder_;
  JobSteps& job_steps_;
  LeaseAccounts& accounts_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
