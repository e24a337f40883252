#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/boxed.h"
#include "core/model/cloud.h"
#include "core/model/image.h"
#include "core/model/instance.h"
#include "core/model/interruption.h"
#include "core/model/job.h"
#include "core/model/lease.h"
#include "core/model/ledger.h"
#include "core/model/offered.h"
#include "core/model/push.h"
#include "core/model/reason.h"

/// The durable state, as rows. The loop sends changes, and the store writes them in order, in one
/// transaction for each commit. A restart reads the same rows back.
namespace hostler::model {

/// Both are unset, or both point to equal values.
template <class T>
bool same_value(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

/// The part of a piece of work that changes: its members are one row. All else is in WorkItem.
struct WorkRecord {
  WorkId id;
  WorkState state = WorkState::kQueued;
  EndReason reason = EndReason::kNone;
  std::string reason_text;
  std::uint32_t attempt = 0;            ///< The current or last one; 0 before the first.
  std::uint32_t starts = 0;             ///< Attempts that count against attempts_max.
  InstanceId instance;                  ///< Where it is or was.
  std::vector<std::string> refused_by;  ///< Different hosts that could not start it: "h-7".
  bool cancel_requested = false;
  /// Its attempt was told to end, because its host will be interrupted.
  bool interrupted = false;
  /// It waited or ran when the backup was made that this state was restored from, and may have run
  /// since: if it would wait, it is held. The first attempt after its release ends this.
  bool restored = false;
  std::int32_t exit_code = 0, signal = 0;
  bool limits_enforced = false;
  std::int64_t cpu_us = 0, ram_peak = 0;
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;
  /// Of the current or last attempt. `placed`: when its start was decided, by the daemon's clock;
  /// it bounds the other two, see work::as_seen().
  Wall placed, started, ended;
  friend bool operator==(const WorkRecord&, const WorkRecord&) = default;
};

/// Items that get their hosts all together, or none does. Each gang is a class of its own.
struct Gang {
  std::uint64_t id = 0;     ///< The number of its first item; the others follow. 0: it has none.
  std::uint32_t count = 0;  ///< How many items it has; 0: the work is no gang.
  bool one_zone = false;    ///< All of its hosts are in one zone, whichever it is.
  friend auto operator<=>(const Gang&, const Gang&) = default;
};

/// What placing a piece of work depends on: enough to schedule it without its body.
struct WorkShape {
  Resources needs;
  Constraints constraints;
  std::int32_t priority = 0;
  bool exclusive = false;  ///< It gets an empty host, whole.
  Gang gang;
  Duration lasts{};  ///< How long after its start it has ended, unless it is renewed; 0: unknown.
  bool restartable = false;
  std::uint32_t attempts_max = 3;
  std::uint32_t start_failures_max = kStartFailuresMax;
  friend auto operator<=>(const WorkShape&, const WorkShape&) = default;
};

/// One piece of work as it was submitted, with its present record. As a Change: it was accepted.
struct WorkItem {
  WorkRecord record;
  std::uint64_t arrival = 0;  ///< Order of submission; kept when the work is queued again.
  WorkShape shape;
  std::string principal;
  std::string name;
  std::string client_key;
  std::string client_digest;  ///< Of the canonical body; only with client_key.
  Wall submitted;
  std::shared_ptr<const std::string> body;  ///< Canonical job JSON; stays in the store.
  /// Compares the body by its value.
  friend bool operator==(const WorkItem& a, const WorkItem& b) {
    const auto rest = [](const WorkItem& x) {
      return std::tie(x.record, x.arrival, x.shape, x.principal, x.name, x.client_key,
                      x.client_digest, x.submitted);
    };
    return rest(a) == rest(b) && same_value(a.body, b.body);
  }
};
struct WorkChanged {
  WorkRecord record;
  friend bool operator==(const WorkChanged&, const WorkChanged&) = default;
};

enum class AttemptState : std::uint8_t {
  kIntended,  ///< May have been sent; may have started.
  kEnded,     ///< Its end is known and durable; output may still be coming.
  kDone,      ///< Collected (or given up): the host may forget it.
};
/// The journal of starts: written before a start is sent.
struct AttemptChanged {
  AttemptId attempt;
  InstanceId instance;
  std::string boot_id;
  std::uint64_t sequence = 0;
  AttemptState state = AttemptState::kIntended;
  std::vector<std::string> cards;  ///< UUIDs of the cards that are its own.
  std::optional<AttemptEnd> end;   ///< From kEnded on; inline output included once, with kEnded.
  friend bool operator==(const AttemptChanged&, const AttemptChanged&) = default;
};

/// InstanceRecord::uses of a host that may have been used any number of times.
inline constexpr std::uint32_t kUsesUnknown = UINT32_MAX;

/// Everything about an instance that survives a restart: its members are one row, upserted whole.
struct InstanceRecord {
  InstanceId id;
  std::string set, pool, type, zone;
  Market market = Market::kOnDemand;
  Micros price_per_hour;
  InstanceState state = InstanceState::kRequested;
  IdleBehavior idle_behavior = IdleBehavior::kRun;
  Health health = Health::kHealthy;
  /// It is of a restored state, or was made after the backup, and its host has not reported its
  /// work since: what is not known here may run on it, so only an admin ends it.
  bool restored = false;
  std::string provider_id, request_id, idempotency_key;
  std::uint64_t epoch = 0;
  std::string address, remote_user;
  std::uint16_t ssh_port = 22;
  HostIdentity identity;
  std::string boot_id;
  std::uint64_t last_sequence = 0;  ///< Of starts on boot_id.
  std::uint32_t destroy_tries = 0;
  std::uint32_t absent_sightings = 0;
  Reason reason_code = Reason::kNone;  ///< Why it is in its state.
  std::string reason;                  ///< The same for people.
  std::string last_text;               ///< Last output of the boot probe, keys seen, ...
  Wall created, verified, ready, first_job, state_since, gone;
  Wall deadline;              ///< Of the state it is in; 0: none.
  Resources total;            ///< As its type was when it was made; zero: not known.
  std::int32_t jobs_max = 0;  ///< At the same time, likewise; 0: not known.
  std::uint32_t uses = 0;     ///< Attempts and leases that were placed on it, or kUsesUnknown.
  std::int64_t off_us = 0;    ///< Of its life so far, switched off; without the present time.
  /// Of the notices that hold the one whose time comes first.
  std::optional<Notice> interruption;
  Wall drain_began;         ///< Before it goes because of its pool's bounds; 0: it does not drain.
  bool drain_over = false;  ///< It is quiet, or the time for that has passed.
  /// What an outside scheduler says of its agent there, and since when.
  AgentReport agent = AgentReport::kNone;
  Wall agent_since;
  friend bool operator==(const InstanceRecord&, const InstanceRecord&) = default;
};
struct InstanceChanged {
  InstanceRecord record;
  /// The intent, whole, with kRequested; erased (secrets and all) once the instance is verified.
  std::shared_ptr<const CreateRequest> create;
  bool erase_create = false;
  /// Compares the create by its value.
  friend bool operator==(const InstanceChanged& a, const InstanceChanged& b) {
    return a.record == b.record && same_value(a.create, b.create) &&
           a.erase_create == b.erase_create;
  }
};
/// A gate, remembered over restarts: its members are one row.
struct GateRecord {
  std::string key;  ///< Canonical text of set, operation and scope.
  std::string set;
  CloudOp op = CloudOp::kCreate;
  CloudErrorClass cls = CloudErrorClass::kRateLimit;
  std::uint32_t scope = 0;
  std::string type, group, zone, subnet, region;
  std::string pool, image;  ///< Of boot gates: the pool; the image, if it is shut for all types.
  InstanceId instance;      ///< Of crashes in a destroy: of this instance; 0: of any.
  std::optional<Market> market;
  Wall until;
  Wall since = {};  ///< The first failure of this row of failures; 0: an older hostler wrote it.
  std::uint32_t failures = 0;
  std::string message;
  std::optional<DriverCrash> crash = {};  ///< Of crashes: the last one.
  friend bool operator==(const GateRecord&, const GateRecord&) = default;
};
struct GateChanged {
  GateRecord record;
  friend bool operator==(const GateChanged&, const GateChanged&) = default;
};
struct GateOpened {
  std::string key;
  friend bool operator==(const GateOpened&, const GateOpened&) = default;
};

/// The price of a kind of instance, valid from a time until the start of the next price.
struct PriceRow {
  std::string set, type, zone;  ///< The menu's type; zone empty: every zone.
  Market market = Market::kOnDemand;
  PricePoint point;
  friend bool operator==(const PriceRow&, const PriceRow&) = default;
};

/// The account and the region that the instances of a set are in. An empty text is not known.
struct SetAccount {
  std::string set, account, region;
  friend bool operator==(const SetAccount&, const SetAccount&) = default;
};

/// The newest image that a query of a set has found. It stays in use while the query finds none.
struct ImageRow {
  std::string set, query;  ///< The query as to_string() gives it.
  Image image;
  Wall found;  ///< When the cloud last said so, to the hour.
  friend bool operator==(const ImageRow&, const ImageRow&) = default;
};
struct ImageForgotten {
  std::string set, query;
  friend bool operator==(const ImageForgotten&, const ImageForgotten&) = default;
};

/// What a principal has used of the hosts lately, for fair shares: in money, decayed until `as_of`.
struct PrincipalUse {
  std::string principal;
  Micros use;
  Wall as_of;
  friend bool operator==(const PrincipalUse&, const PrincipalUse&) = default;
};

/// The least RAM that hosts of a set and a type have reported, while the menu has `menu_ram` for
/// the type: less than that, and at least half of it.
struct RamReport {
  std::string set, type;
  std::int64_t menu_ram = 0, ram = 0;
  friend bool operator==(const RamReport&, const RamReport&) = default;
};
struct RamForgotten {
  std::string set, type;
  friend bool operator==(const RamForgotten&, const RamForgotten&) = default;
};

/// The fewest cards of a group of the menu that hosts of a set and a type have listed, while the
/// menu has `menu_count` in the group. Without groups on the menu: of all cards, the kind is empty.
struct GpuReport {
  std::string set, type, kind;
  std::int64_t memory = 0;  ///< Of the group.
  std::int32_t menu_count = 0, count = 0;
  friend bool operator==(const GpuReport&, const GpuReport&) = default;
};
struct GpuForgotten {
  std::string set, type, kind;
  std::int64_t memory = 0;
  friend bool operator==(const GpuForgotten&, const GpuForgotten&) = default;
};

using Change =
    std::variant<WorkItem, WorkChanged, LeaseChanged, AttemptChanged, Boxed<InstanceChanged>,
                 Boxed<GateChanged>, GateOpened, PriceRow, SetAccount, ImageRow, ImageForgotten,
                 PrincipalUse, PusherRecord, OfferedRow, OfferedGone, RamReport, RamForgotten,
                 GpuReport, GpuForgotten, LedgerRecord>;
/// The change, if it is of this kind; else null.
template <class Kind>
const Kind* get_change(const Change& change) {
  constexpr bool kIsBoxed =
      std::is_same_v<Kind, InstanceChanged> || std::is_same_v<Kind, GateChanged>;
  if constexpr (kIsBoxed) {
    const auto* boxed = std::get_if<Boxed<Kind>>(&change);
    return boxed == nullptr ? nullptr : &**boxed;
  } else {
    return std::get_if<Kind>(&change);
  }
}

/// What one or more events changed; durable all or not at all.
struct Commit {
  Revision last_revision = 0;  ///< Highest ledger revision in it or before it.
  std::vector<Change> changes;
  std::vector<WorkId> bodies_wanted;  ///< Jobs whose starts wait for this commit.
};

/// A row of the store that cannot be used, usually because a value is out of its range. The row
/// stays in the store, and the daemon does nothing to its instance or work until an admin has
/// corrected it.
struct DamagedRow {
  /// "work", "work_specs", "attempts", "instances", "creates", "gates", "sets", ...
  std::string table;
  std::string key;      ///< "l-3", "j-5.2", "h-7", a gate's key, a set's name.
  std::string problem;  ///< One line for people: "state is 99".
  /// With instances and creates: the values that could be read; the others are as by default.
  /// The machine may exist, so it counts for ceilings.
  std::optional<InstanceRecord> instance;
  friend bool operator==(const DamagedRow&, const DamagedRow&) = default;
};

/// Epochs by which rows may be behind the tags of instances: a start counts one, and --restored one
/// for each second since the backup. A tag that is further ahead is damaged, or a lie.
inline constexpr std::uint64_t kEpochsBehindMax = 1'000'000'000;

/// Numbers of work that this store has left out: it went on from an older state, whose later part
/// may have given them out. What has one of them was begun after the backup was made.
struct LeftOut {
  std::uint64_t first = 0, last = 0;
  [[nodiscard]] bool contains(std::uint64_t number) const {
    return first <= number && number <= last;
  }
  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

/// What a restart finds, a member for each table: live jobs by arrival, none that have ended.
struct Restored {
  std::string owner;        ///< The store's id, made with it.
  std::uint64_t epoch = 0;  ///< Raised by this start.
  Revision last_revision = 0;
  std::uint64_t last_work = 0, last_instance = 0, last_arrival = 0;
  std::vector<WorkItem> work;              ///< Not terminal; `body` unset.
  std::vector<LeaseRecord> leases;         ///< Those of the leases in `work`, by number.
  std::vector<AttemptChanged> attempts;    ///< Not kDone; inline output unset.
  std::vector<InstanceChanged> instances;  ///< Not gone; `create` set where it is kept.
  std::vector<GateRecord> gates;
  std::vector<PriceRow> prices;  ///< The newest of each set, type, zone and market.
  std::vector<SetAccount> accounts;
  std::vector<ImageRow> images;
  std::vector<PrincipalUse> uses;
  std::vector<PusherRecord> pushers;
  std::vector<OfferedRow> offered;
  std::vector<RamReport> ram_reports;
  std::vector<GpuReport> gpu_reports;
  struct ClientKey {
    std::string principal, key, digest;
    WorkId work;
    friend bool operator==(const ClientKey&, const ClientKey&) = default;
  };
  std::vector<ClientKey> client_keys;  ///< In the order of `work`.
  std::vector<LeftOut> left_out;
  std::uint64_t restored_epoch = 0;  ///< Instances of earlier epochs may have such work; 0: none.
  std::vector<WorkId> taken_over;    ///< Ended work whose number was left out.
  bool goes_on = false;              ///< This start has left numbers out: --restored.
  /// Nothing shows that the rows, which end in this epoch, are the newest ones: nothing is done to
  /// a set before its first list is compared with them.
  std::optional<std::uint64_t> doubted = {};
  /// None of these rows is in the lists above, and neither is work that depends on one of them:
  /// work with a damaged attempt or instance has an entry here, because its attempt may still run.
  std::vector<DamagedRow> damaged;
};

}  // namespace hostler::model
