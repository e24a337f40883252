#pragma once

#include "core/dispatch/handlers/attempt_rows.h"
#include "core/dispatch/handlers/boot_consoles.h"
#include "core/dispatch/handlers/instance_calls.h"
#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/handlers/lease_steps.h"
#include "core/dispatch/handlers/reachability.h"
#include "core/dispatch/state/boot_gates.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/ended_instances.h"
#include "core/dispatch/state/host_commands.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/pushes.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"
#include "core/fleet/step.h"
#include "core/gates/governor.h"

namespace hostler::dispatch {

/// Carries out what a step of core/fleet decided for an instance.
class InstanceSteps {
 public:
  struct Owners {
    const model::SitePolicy& policy;
    Sets& sets;
    Hosts& hosts;
    EndedInstances& ended;
    Jobs& jobs;
    Leases& leases;
    CallGates& gates;
    BootGates& boots;
    HostCommands& commands;
    gates::Governor& governor;
    Pushes& pushes;
    PlanState& plan;
    Recorder& recorder;
  };
  InstanceSteps(Owners owners, InstanceCalls& calls, BootConsoles& consoles, AttemptRows& attempts,
                JobSteps& job_steps, LeaseSteps& lease_steps, Reachability& reachability)
      : owners_(owners),
        calls_(calls),
        consoles_(consoles),
        attempts_(attempts),
        job_steps_(job_steps),
        lease_steps_(lease_steps),
        reachability_(reachability) {}

  /// Journals the instance and its ledger record and sends the calls of the outcome's effects. The
  /// host may be gone afterwards: callers look it up again before they touch it.
  void apply(Host& host, fleet::Outcome outcome, const char* actor, Now now);
  /// The deadline of the host has passed.
  void due(Host& host, Now now);
  /// Brings the governor's account of the instance up to date.
  void count(Host& host, Now now);

 private:
  void doubt(const Host& host, model::Micros before, model::Micros price, Now now);
  void execute(fleet::Effect effect, Host& host, Duration list_after, Now now);
  /// The instance is forgotten, with its work and its part of the ceilings.
  void gone(model::InstanceId id, Now now);
  void lose_work(Host& host, Now now);
  void lose_claim(Host& host, model::WorkId work, const std::string& why, bool was_announced,
                  Now now);
  /// The host is being destroyed: it is no holder's any more.
  void end_claims(Host& host, Now now);
  /// What a ceiling or a quota of the cloud refused may pass now.
  void free_room(const Host& host, Now now);
  [[nodiscard]] model::HostTarget target(const Host& host) const;

  const Owners owners_;
  InstanceCalls& calls_;
  BootConsoles& consoles_;
  AttemptRows& attempts_;
  JobSteps& job_steps_;
  LeaseSteps& lease_steps_;
  Reachability& reachability_;
};

}  // namespace hostler::dispatch
