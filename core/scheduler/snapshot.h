#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/price_bound.h"
#include "core/scheduler/queue.h"

namespace hostler::scheduler {

/// One thing that can be bought now: a menu type in a zone, a subnet and a market of one set, for
/// one pool.
struct Offering {
  std::uint32_t pool = 0, set = 0, type = 0;  ///< Indices into SitePolicy.
  std::string zone, subnet;                   ///< Empty: the driver chooses.
  model::Market market = model::Market::kOnDemand;
  model::Resources resources;
  model::Micros price_per_hour;
  std::string shut;          ///< Why it cannot be created now (a gate's text); empty: it can.
  bool at_quota = false;     ///< `shut` is the quota of its cloud: the end of a host may open it.
  std::string quota_group;   ///< Whose hosts count for that quota; set if some offering is at it.
  bool unavailable = false;  ///< The cloud says that it has none now: no price is compared to its.
  bool can_stop = false;     ///< Its instances can be switched off and kept.
  std::string note;  ///< Why its resources are less than those of the menu; empty: they are not.
};

/// Items of a class that a host is created or woken for.
struct Load {
  ClassId cls = 0;
  std::uint32_t count = 0;

  friend bool operator==(const Load&, const Load&) = default;
};

/// When an item is taken, among all items of its priority: the least use first, then the earliest
/// arrival.
struct Turn {
  double use = 0;  ///< The key of its principal (shares.h), with its turns before.
  std::uint64_t arrival = 0;
  friend bool operator<(const Turn& a, const Turn& b) {
    return a.use < b.use || (a.use == b.use && a.arrival < b.arrival);
  }
};

/// Items of a class that a plan may place or find hosts for. A class has a second view, for those
/// of its items that have a `price`, and two last ones likewise for those that are `displaced`.
struct ClassView {
  ClassId id = 0;
  /// Plans treat all kinds alike: the dispatcher knows what placing an item of a kind means.
  model::WorkKind kind = model::WorkKind::kJob;
  model::WorkShape shape;
  std::uint64_t count = 0;
  std::vector<Turn> heads = {};  ///< Of the first items, at most 32.
  Mono oldest = {};              ///< When its oldest item was queued.
  /// Its items go only where their parts of hosts are cheap enough for their principals' limits.
  std::optional<PriceBound> price = {};
  /// Its items do not wait yet: they run on hosts that are to be interrupted. Room is found and
  /// bought for them, and none is placed.
  bool displaced = false;
};

enum class HostPhase : std::uint8_t {
  kComing,     ///< requested, booting or unknown: waiting items may be counted on it.
  kReady,      ///< idle or busy.
  kStopped,    ///< Switched off: standby, or unwanted.
  kLingering,  ///< Vanished lately, or its destroys have no effect: it counts for ceilings and for
               ///< its pool's maximum only.
  kLeaving,    ///< terminating, abandoned or vanished long ago: it counts for ceilings at most.
};
/// A host as the planner sees it: a member for each fact that decides what may be done with it.
struct HostView {
  model::InstanceId id;
  std::uint32_t offering =
      UINT32_MAX;  ///< Index into Snapshot::offerings; UINT32_MAX: its type has left the menu.
  std::uint32_t pool = 0;  ///< Index into SitePolicy.
  HostPhase phase = HostPhase::kComing;
  bool takes_work = false;  ///< Ready, healthy, idle behavior run: work may be placed on it.
  bool busy = false;        ///< Attempts start or run on it.
  bool kept = false;      ///< Never shut down: idle behavior hold, or off while its set is closed.
  bool draining = false;  ///< Idle behavior drain: shut down when it is empty.
  bool cordoned = false;  ///< Its cloud takes it back soon: likewise.
  bool adopted = false;   ///< kComing after a restart: only its own deadline ends it.
  bool can_stop = false;  ///< As of its offering.
  bool can_wake = false;  ///< kStopped, and it may be switched on now.
  bool unfulfilled_spot = false;
  model::Resources total, free;
  std::int32_t attempts_left = INT32_MAX;  ///< So many more may run (model::jobs_max_of).
  model::Micros price_per_hour;
  Mono created;
  Mono since;  ///< kReady and not busy: when it became idle.
  std::optional<Mono> unreachable_since;
  std::optional<ClassId> reserved_for;  ///< By an earlier plan, against starvation.
  /// Of its Create, so that the next plan does not create again. Also of a host that is ready and
  /// has not been given work: it gets these items first.
  std::vector<Load> load;
  bool work_cancelled = false;  ///< kComing: the items of its Create were cancelled.
  bool for_exchange = false;    ///< It was created to replace a dearer host.
  bool ends = false;            ///< kLeaving: its destroy is under way, and will free its room.

  /// Switched off and kept: the pool's `stopped` counts such hosts.
  [[nodiscard]] bool is_standby() const {
    return phase == HostPhase::kStopped && can_stop && !kept && !draining && !cordoned;
  }
  friend bool operator==(const HostView&, const HostView&) = default;
};

/// How far the present numbers are below the ceilings of a site, set or pool; nullopt: no ceiling.
struct Headroom {
  std::optional<std::int64_t> instances, creates, destroys;
  std::optional<model::Micros> price_per_hour;
};

/// What the hosts that went lately mean for a pool.
struct Rest {
  /// So many hosts of minimum and standby have given way to work: they are not replaced yet.
  std::int64_t hosts = 0;
  bool exchange = false;  ///< No exchange is begun.
};

/// The whole input of a plan, besides the policy.
struct Snapshot {
  Mono now;
  std::vector<ClassView> classes;   ///< In the queue's order.
  bool has_limits = false;          ///< Some principal has a limit of running work.
  std::vector<HostView> hosts;      ///< Every instance that is not gone, by id.
  std::vector<Offering> offerings;  ///< In any order; plans name them by index.
  Headroom site;
  std::vector<Headroom> sets, pools;  ///< By index into SitePolicy.
  /// Instances of each pool that are no hosts here, and count for its maximum. May be shorter.
  std::vector<std::int64_t> set_aside;
  std::vector<Rest> rests;  ///< By pool. May be shorter.
};

}  // namespace hostler::scheduler
