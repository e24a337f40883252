#pragma once

#include "core/dispatch/handlers/absences.h"
#include "core/dispatch/handlers/admin_requests.h"
#include "core/dispatch/handlers/adoptions.h"
#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/boot_consoles.h"
#include "core/dispatch/handlers/bound_events.h"
#include "core/dispatch/handlers/broken_gangs.h"
#include "core/dispatch/handlers/call_answers.h"
#include "core/dispatch/handlers/card_events.h"
#include "core/dispatch/handlers/creates.h"
#include "core/dispatch/handlers/disk_events.h"
#include "core/dispatch/handlers/drains.h"
#include "core/dispatch/handlers/duplicates.h"
#include "core/dispatch/handlers/epochs.h"
#include "core/dispatch/handlers/host_events.h"
#include "core/dispatch/handlers/interruptions.h"
#include "core/dispatch/handlers/lease_accounts.h"
#include "core/dispatch/handlers/lease_ends.h"
#include "core/dispatch/handlers/lease_events.h"
#include "core/dispatch/handlers/lease_requests.h"
#include "core/dispatch/handlers/lease_takeover.h"
#include "core/dispatch/handlers/list_events.h"
#include "core/dispatch/handlers/output_events.h"
#include "core/dispatch/handlers/plan_events.h"
#include "core/dispatch/handlers/power_actions.h"
#include "core/dispatch/handlers/push_events.h"
#include "core/dispatch/handlers/questions/image_lookups.h"
#include "core/dispatch/handlers/questions/leftover_destroys.h"
#include "core/dispatch/handlers/questions/leftover_sweeps.h"
#include "core/dispatch/handlers/questions/notice_watches.h"
#include "core/dispatch/handlers/questions/offering_events.h"
#include "core/dispatch/handlers/questions/price_events.h"
#include "core/dispatch/handlers/questions/quota_group_events.h"
#include "core/dispatch/handlers/questions/type_changes.h"
#include "core/dispatch/handlers/restore.h"
#include "core/dispatch/handlers/set_events.h"
#include "core/dispatch/handlers/snapshot_maker.h"
#include "core/dispatch/handlers/work_requests.h"
#include "core/dispatch/options.h"
#include "core/dispatch/state/state.h"

namespace hostler::dispatch {

/// All handlers, in the order of dependence: the first ones carry out steps, the others decide
/// which step an event means. Each is given the owners that it uses. One member for each handler:
/// the only role of this struct is to make and to connect them.
struct Handlers {
  Handlers(State& s, CreateSecretsFactory make_secrets, const Options& options);
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

  InstanceCalls calls;
  BootConsoles consoles;
  AttemptRows attempt_rows;
  JobSteps job_steps;
  LeaseSteps lease_steps;
  LeaseAccounts accounts;
  Reachability reachability;
  InstanceSteps instance_steps;
  Interruptions interruptions;

  SetEvents sets;
  PriceEvents prices;
  QuotaGroupEvents quota_groups;
  ImageLookups images;
  OfferingEvents offerings;
  TypeChanges types;
  LeftoverSweeps leftovers;
  LeftoverDestroys leftover_destroys;
  NoticeWatches watches;
  Duplicates duplicates;
  TagRepair tags;
  Absences absences;
  Adoptions adoptions;
  ListEvents lists;
  CallAnswers answers;
  Takeover takeover;
  LeftAlone left_alone;
  Lending lending;
  LeaseTakeover lease_takeover;
  AttemptEvents attempts;
  DiskEvents disk;
  OutputEvents outputs;
  CardEvents cards;
  HostEvents hosts;
  WorkRequests work;
  LeaseEnds lease_ends;
  LeaseRequests lease_requests;
  LeaseEvents leases;
  BrokenGangs broken_gangs;
  OwnCounts own_counts;
  BoundEvents bounds;
  HostClosing closing;
  AdminRequests admin;
  CreateRefusals refusals;
  Creates creates;
  PowerActions power;
  SnapshotMaker snapshots;
  Drains drains;
  PushEvents pushes;
  PlanEvents plans;
  RestoredWork restored_work;
  Restore restore;
  Epochs epochs;
};

}  // namespace hostler::dispatch
