#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch/effects.h"
#include "core/model/cloud_records.h"
#include "core/model/host.h"
#include "core/model/metric.h"
#include "core/model/records.h"
#include "core/scheduler/plan.h"

/// The input of the dispatcher. Values only.
namespace hostler::dispatch {

// ---- clouds ------------------------------------------------------------------------------------

/// The driver of a set was found and checked: before the first call, and after each change.
struct DriverLoaded {
  std::string set;
  model::DriverFile driver;
};
/// The answer to an OpenSet.
struct SetOpened {
  std::string set;
  model::CloudResult<model::SetInfo> result;
  std::uint64_t driver = 0;  ///< Which of the set's drivers has answered: later ones have more.
};
/// Beside the driver of a set another one was started, with newer settings or of a newer version.
/// It waits to be used, or could not be opened and is gone.
struct SuccessorOpened {
  std::string set;
  model::CloudResult<model::SetInfo> result;
  std::uint64_t driver = 0;
};
/// The credentials of a set were read again: a set that is closed may be opened with them now.
struct CredentialsRenewed {
  std::string set;
};
/// The first (or a newer) record of a create that is still under way: R28.
struct CreateSeen {
  model::InstanceId instance;
  model::ListedInstance seen;
};
struct CreateEnded {
  model::InstanceId instance;
  std::optional<model::CloudError> error;
};
struct SetListed {
  std::string set;
  Mono sent;  ///< When the call was made. The list does not show later events.
  model::CloudResult<model::ListedInstances> result;
};
/// The answer to a LookUpCall.
struct InstancesLookedUp {
  std::string set;
  Mono sent;
  std::vector<model::InstanceId> asked;
  model::CloudResult<std::vector<model::ListedInstance>> result;
};
struct DestroyEnded {
  model::InstanceId instance;
  std::optional<model::CloudError> error;
};
struct TagsEnded {
  model::InstanceId instance;
  std::optional<model::CloudError> error;
};
struct PowerEnded {
  model::InstanceId instance;
  std::optional<model::CloudError> error;
};
/// The present and past prices of one type of the menu, from the cloud of a set.
struct PricesFetched {
  std::string set, type;
  std::uint64_t number = 0;  ///< Of the PricesCall.
  model::CloudResult<std::vector<model::ZonePrice>> result;
};
/// The quota group of a type in a set; empty: none.
struct QuotaGroupFetched {
  std::string set;
  model::InstanceType type;  ///< As it was asked about.
  model::CloudResult<std::string> result;
};
/// The answer to a ConsoleCall.
struct ConsoleRead {
  model::InstanceId instance;
  model::CloudResult<model::ConsoleText> result;
};
/// The answer to an ImagesCall.
struct ImagesFetched {
  std::string set;
  model::ImageQuery query;
  std::uint64_t number = 0;
  model::CloudResult<std::vector<model::Image>> result;
};
/// The answer to an OfferingsCall.
struct OfferingsFetched {
  std::string set;
  std::uint64_t number = 0;
  model::CloudResult<std::vector<model::CloudOffering>> result;
};
/// The answer to a LeftoversCall.
struct LeftoversListed {
  std::string set;
  std::uint64_t number = 0;
  model::CloudResult<std::vector<model::Leftover>> result;
};
struct LeftoverDestroyed {
  std::string set, type, id;
  std::optional<model::CloudError> error;
};

/// Notices of the WatchCall of this number, while it is under way.
struct NoticesSeen {
  std::string set;
  std::uint64_t number = 0;
  std::vector<model::Interruption> notices;
};
/// The WatchCall of this number has ended.
struct WatchEnded {
  std::string set;
  std::uint64_t number = 0;
  std::optional<model::CloudError> error;
};

// ---- metrics -----------------------------------------------------------------------------------

/// Readings of metrics, each good or not, in the order in which they ended.
struct MetricsRead {
  std::vector<model::MetricReading> readings;
};
/// Time zones that expressions use. They replace what was known of these.
struct ZonesRead {
  std::vector<model::ZoneTimes> zones;
};
/// Samples of before this start, for averages over a time. No metric is known by them. Once, before
/// the first MetricsRead.
struct PastRead {
  std::vector<model::MetricPast> past;
};
/// The end of a DrainCall.
struct DrainEnded {
  model::InstanceId instance;
  Wall began;         ///< As of the call: the end of an older drain's command changes nothing.
  bool good = false;  ///< Its exit status was 0.
  std::string text;   ///< For people: "exit status 1: no such backend".
};

// ---- requests and plans ------------------------------------------------------------------------

/// All items are accepted, or none. The dispatcher fills in id, arrival, principal and time.
struct Submit {
  Ticket ticket = 0;
  std::string principal;
  std::vector<model::WorkItem> work;
  /// Kept of the principal's jobs; unset: it could not be found out.
  std::optional<std::uint64_t> output_bytes = 0;
};
/// The kept output of an ended job was deleted.
struct OutputsRemoved {
  std::string actor;
  model::WorkId work;
  std::uint64_t bytes = 0;
};
/// The output of a job that has ended is not waited for any more.
struct GiveUpOutput {
  Ticket ticket = 0;
  std::string principal;
  bool admin = false;  ///< May give up that of others.
  model::WorkId work;
};
struct CancelWork {
  Ticket ticket = 0;
  std::string principal;
  bool admin = false;  ///< May cancel the work of others.
  model::WorkId work;
};
/// One lease. The dispatcher fills in id, arrival, principal, times and the pools that lend so.
struct SubmitLease {
  Ticket ticket = 0;
  std::string principal;
  model::WorkItem work;
  model::LeaseRecord lease;
};
/// The holder gives the host back before the term ends.
struct ReturnLease {
  Ticket ticket = 0;
  std::string principal;
  bool admin = false;  ///< May return the leases of others.
  model::WorkId lease;
  bool used = true;  ///< False: the holder has not touched it.
};
/// A new term begins now.
struct RenewLease {
  Ticket ticket = 0;
  std::string principal;
  bool admin = false;
  model::WorkId lease;
  Duration term{};
};
/// Held jobs may start from now on.
struct ReleaseWork {
  Ticket ticket = 0;
  std::string actor;
  std::optional<model::WorkId> work;  ///< Unset: all that are held.
};
/// All held jobs are cancelled.
struct CancelHeld {
  Ticket ticket = 0;
  std::string actor;
};
struct SetIdleBehavior {
  Ticket ticket = 0;
  std::string actor;
  model::InstanceId instance;
  model::IdleBehavior behavior{};
};
struct KillInstance {
  Ticket ticket = 0;
  std::string actor;
  model::InstanceId instance;
  std::string reason;
};
/// An outside scheduler tells what it needs of a pool.
struct PushReceived {
  Ticket ticket = 0;
  std::string principal;
  std::string pool;
  model::Push push;
};
/// An outside party says that the host is ready, in a pool whose readiness is that.
struct ReportReady {
  Ticket ticket = 0;
  std::string actor;
  model::InstanceId instance;
};
/// The list that omits instances is right: those that it omits are gone, if no connection to them
/// lives.
struct BelieveList {
  Ticket ticket = 0;
  std::string actor;
  std::string set;
  std::uint64_t list = 0;  ///< SetView::list, as the admin saw it.
};
/// Unreachable hosts of the set are ended now, although half of the set or more became unreachable
/// at once.
struct GiveUpUnreachable {
  Ticket ticket = 0;
  std::string actor;
  std::string set;
};
/// Such calls are to be tried now.
struct OpenGate {
  Ticket ticket = 0;
  std::string actor;
  std::string key;
};
struct PlanMade {
  std::uint64_t number = 0;
  scheduler::Plan plan;
};
/// The set's instances are in the account that its cloud reports now.
struct AcceptAccount {
  Ticket ticket = 0;
  std::string actor;
  std::string set;
};
struct PolicyChanged {
  model::SitePolicy policy;
};
/// The store has removed this work, which ended long ago.
struct WorkForgotten {
  std::vector<model::WorkId> work;
};

/// The disk of the state folder is full, so that only rows are written; or it has room again.
struct DiskChanged {
  bool full = false;
};

/// Nobody can log in at the jump host of a set, for this reason; or, without one, it works again.
struct JumpHostChanged {
  std::string set;
  std::string problem;
};

using Event =
    std::variant<DriverLoaded, SetOpened, SuccessorOpened, CredentialsRenewed, CreateSeen,
                 CreateEnded, SetListed, InstancesLookedUp, DestroyEnded, TagsEnded, PowerEnded,
                 PricesFetched, QuotaGroupFetched, ConsoleRead, ImagesFetched, OfferingsFetched,
                 LeftoversListed, LeftoverDestroyed, NoticesSeen, WatchEnded, model::HostEvent,
                 MetricsRead, ZonesRead, PastRead, DrainEnded, Submit, SubmitLease, ReturnLease,
                 RenewLease, CancelWork, ReleaseWork, CancelHeld, OutputsRemoved, GiveUpOutput,
                 SetIdleBehavior, KillInstance, PushReceived, ReportReady, OpenGate, AcceptAccount,
                 BelieveList, GiveUpUnreachable, PlanMade, PolicyChanged, WorkForgotten,
                 DiskChanged, JumpHostChanged>;

}  // namespace hostler::dispatch
