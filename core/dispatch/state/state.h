#pragma once

#include "core/dispatch/state/boot_gates.h"
#include "core/dispatch/state/bound_decisions.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/ended_instances.h"
#include "core/dispatch/state/expressions.h"
#include "core/dispatch/state/gangs.h"
#include "core/dispatch/state/host_commands.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/lost_time.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/metrics/metrics.h"
#include "core/dispatch/state/metrics/zones.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/pushes.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/questions/leftovers.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/questions/price_answers.h"
#include "core/dispatch/state/questions/questions.h"
#include "core/dispatch/state/questions/type_selection.h"
#include "core/dispatch/state/questions/watches.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/rests.h"
#include "core/dispatch/state/running_limits.h"
#include "core/dispatch/state/set_aside.h"
#include "core/dispatch/state/sets.h"
#include "core/dispatch/state/submit_quotas.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/gates/governor.h"

namespace hostler::dispatch {

/// All state of the dispatcher, a member for each owner. Owners refer to earlier ones, so it is
/// neither copied nor moved.
struct State {
  State(model::SitePolicy site, std::uint64_t seed)
      : configured(std::move(site)),
        effective{configured, {}},
        policy(effective.site),
        sets(policy),
        menu(policy),
        images(policy),
        prices(policy),
        leftovers(policy),
        watches(policy),
        viewer(policy, sets, menu),
        principals(waiting),
        jobs(principals, waiting),
        leases(principals, waiting),
        gangs(waiting, recorder),
        quotas(policy, principals, waiting),
        plan(policy),
        limits(policy, principals, waiting, menu, hosts, plan),
        gates(policy, sets, images, recorder, plan, seed),
        questions(sets, gates),
        boots(policy, menu, gates),
        commands(recorder),
        governor(policy) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  model::SitePolicy configured;
  EffectivePolicy effective;
  const model::SitePolicy& policy;  ///< The effective one.
  OfferedTypes offered;
  Recorder recorder;
  Sets sets;
  Menu menu;
  Images images;
  PriceAnswers prices;
  Leftovers leftovers;
  Watches watches;
  HostViewer viewer;
  Hosts hosts;
  EndedInstances ended;
  SetAside set_aside;
  Metrics metrics;
  Zones zones;
  Expressions expressions;
  BoundDecisions decisions;
  PoolBounds bounds;
  Pushes pushes;
  Rests rests;
  WaitingWork waiting;
  Principals principals;
  Jobs jobs;
  Leases leases;
  Gangs gangs;
  LostTime lost_time;
  SubmitQuotas quotas;
  PlanState plan;
  RunningLimits limits;
  CallGates gates;
  Questions questions;
  BootGates boots;
  HostCommands commands;
  gates::Governor governor;
  bool is_old = false;       ///< A cloud knows a later epoch: nothing is done any more.
  bool has_orphans = false;  ///< The journal has instances whose set is not in the policy.
};

}  // namespace hostler::dispatch
