#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/model/cloud_records.h"
#include "core/model/host.h"
#include "core/model/records.h"
#include "core/scheduler/plan.h"

/// The output of the dispatcher: changes and effects. Values only.
namespace hostler::dispatch {

/// The number of a request that waits for its answer.
using Ticket = std::uint64_t;

/// Opens a set; asks an open one for its info again.
struct OpenSet {
  std::string set;
};
/// Whether links may ask the set's driver about host keys. They may not at first.
struct UseSet {
  std::string set;
  bool usable = false;
};
/// New calls go to this driver of the set, which SuccessorOpened has named; the one before ends its
/// calls.
struct UseDriver {
  std::string set;
  std::uint64_t driver = 0;
};
struct CreateCall {
  std::string set;
  model::InstanceId instance;
  std::shared_ptr<const model::CreateRequest> request;
  Duration timeout{};
};
struct ListCall {
  std::string set;
  model::ListRequest request;
  Duration timeout{};
};
/// Asks for instances by their ids, whatever their tags.
struct LookUpCall {
  std::string set;
  std::vector<model::InstanceId> instances;
  model::ListRequest request;  ///< With their ids, in the same order, and no filter.
  Duration timeout{};
};
struct DestroyCall {
  std::string set;
  model::InstanceId instance;
  model::DestroyRequest request;
  Duration timeout{};
  model::Reason reason = model::Reason::kNone;  ///< Why. Not for the driver.
};
struct TagsCall {
  std::string set;
  model::InstanceId instance;
  model::SetTagsRequest request;
  Duration timeout{};
};
/// Switches an instance on or off.
struct PowerCall {
  std::string set;
  model::InstanceId instance;
  bool on = false;
  model::PowerRequest request;
  Duration timeout{};
};
struct PricesCall {
  std::string set;
  model::InstanceType type;
  std::uint64_t number = 0;  ///< Comes back with the answer.
  Wall since;
  Duration timeout{};
};
/// Asks the driver, not the cloud.
struct QuotaGroupCall {
  std::string set;
  model::InstanceType type;
  Duration timeout{};
};
/// Asks for the end of the console of a host that did not come up.
struct ConsoleCall {
  std::string set;
  model::InstanceId instance;
  model::ConsoleQuery query;
  Duration timeout{};
};
/// Looks for images that creates may be made of.
struct ImagesCall {
  std::string set;
  model::ImageQuery query;
  std::uint64_t number = 0;  ///< Comes back with the answer.
  Duration timeout{};
};
/// What does the cloud offer?
struct OfferingsCall {
  std::string set;
  std::uint64_t number = 0;  ///< Comes back with the answer.
  Duration timeout{};
};
/// Lists things that outlived their instances.
struct LeftoversCall {
  std::string set;
  std::uint64_t number = 0;  ///< Comes back with the answer.
  model::Tags tag_filter;
  Duration timeout{};
};
struct DestroyLeftoverCall {
  std::string set;
  model::LeftoverDestroyRequest request;
  Duration timeout{};
};
/// Tell of interruptions for this time, with NoticesSeen and in the end WatchEnded.
struct WatchCall {
  std::string set;
  std::uint64_t number = 0;
  Duration timeout{};
  bool after_commit = false;  ///< It must follow a UseDriver.
};
/// Runs the drain command of a pool for a host that is to go, at the daemon and without a shell,
/// and answers with DrainEnded. Once for each drain: it follows the commit of the row that says
/// that the drain has begun, and no restart sends it again. With HOSTLER_INSTANCE (the text of the
/// id), HOSTLER_CLOUD_ID and HOSTLER_POOL in its environment.
struct DrainCall {
  model::InstanceId instance;
  Wall began;  ///< The drain, as InstanceRecord::drain_began.
  std::string cloud_id, pool;
  std::vector<std::string> command;  ///< Absolute program and arguments.
  Duration timeout{};                ///< After that it is ended.
};
/// Make a plan of this snapshot, off the loop, and answer with PlanMade.
struct MakePlan {
  std::uint64_t number = 0;
  std::shared_ptr<const scheduler::Snapshot> snapshot;
  std::shared_ptr<const model::SitePolicy> policy;  ///< The snapshot's indices refer to it.
};
/// The clouds were asked which epoch the instances of this site have seen.
struct EpochsCompared {
  /// An instance is of a later epoch. Empty: all first lists are here, and none is.
  std::string later;
  std::uint64_t epoch = 0;  ///< With `later`: the highest.
  /// With `later`: the rows are old, and nothing follows this. False: one set says so, and others
  /// do not; that set alone is stopped.
  bool is_old = false;
};
/// The answer to a request; has the ids of the jobs that it accepted or changed.
struct Reply {
  Ticket ticket = 0;
  Result<std::vector<model::WorkId>> result;
};

/// The answer to a PushReceived.
struct PushReply {
  Ticket ticket = 0;
  Result<model::PushAnswer> result;
};

using Effect =
    std::variant<model::HostCommand, OpenSet, UseSet, UseDriver, CreateCall, ListCall, LookUpCall,
                 DestroyCall, TagsCall, PowerCall, PricesCall, QuotaGroupCall, ConsoleCall,
                 ImagesCall, OfferingsCall, LeftoversCall, DestroyLeftoverCall, WatchCall,
                 DrainCall, MakePlan, EpochsCompared, Reply, PushReply>;

/// The result of one event. An effect is issued only when every change before it is durable, unless
/// it depends on no commit (immediate_effects.h).
struct Outbox {
  std::vector<model::Change> changes;
  std::vector<Effect> effects;
  std::vector<model::WorkId> bodies_wanted;  ///< For StartAttempt effects, which have no spec yet.
};

}  // namespace hostler::dispatch
