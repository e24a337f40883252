#pragma once

#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/lease_accounts.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/state/host_commands.h"

namespace hostler::dispatch {

/// Applies the steps of leases to their hosts, too: a host is kept, takes other work, is cleaned or
/// ends.
class LeaseEnds {
 public:
  LeaseEnds(const model::SitePolicy& policy, Hosts& hosts, HostCommands& commands,
            Recorder& recorder, LeaseSteps& steps, LeaseAccounts& accounts,
            InstanceSteps& instance_steps, AttemptEvents& attempts)
      : policy_(policy),
        hosts_(hosts),
        commands_(commands),
        recorder_(recorder),
        steps_(steps),
        accounts_(accounts),
        instance_steps_(instance_steps),
        attempts_(attempts) {}

  /// The host of the lease; null: it has none.
  [[nodiscard]] const Host* host_of(const work::Lease& lease) const;
  /// A command that cleans the host, or closes the account, can be run there now.
  [[nodiscard]] bool cleans(const work::Lease& lease) const;
  /// Carries out a step of core/work, for the lease and for its host. The lease may have ended:
  /// callers do not touch it afterwards.
  void apply(work::Lease& lease, work::LeaseOutcome outcome, const char* actor, Now now);
  /// For a host that a lease of a restored state leaves: it may have been lent anew since the
  /// backup was made, so nobody gets it before an admin decides.
  void hold(Host& host, const char* actor, Now now);
  /// The lease has left the host, which takes other work or ends.
  void leave(Host& host, model::WorkId lease, work::HostAfter after, bool was_used,
             const char* actor, Now now, const std::string& problem = {});
  /// Nobody else gets the host. `problem`: as of fleet::lease_ended.
  void end(Host& host, model::WorkId lease, const char* actor, Now now,
           const std::string& problem = {});

 private:
  void clean(const Host& host, model::WorkId lease, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  HostCommands& commands_;
  Recorder& recorder_;
  LeaseSteps& steps_;
  LeaseAccounts& accounts_;
  InstanceSteps& instance_steps_;
  AttemptEvents& attempts_;
};

}  // namespace hostler::dispatch
