#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/demand/class_view.h"
#include "core/gates/headroom.h"
#include "core/model/policy.h"
#include "core/scheduler/bound.h"

namespace hostler::scheduler {

/// One thing that can be bought now: a menu type in a zone, a subnet and a market of one set, for
/// one pool.
struct Offering {
  std::uint32_t pool = 0, set = 0, type = 0;  ///< Indices into SitePolicy.
  std::string zone, subnet;                   ///< Empty: the driver chooses.
  model::Market market = model::Market::kOnDemand;
  model::Resources resources;
  model::GpuGroups gpus = {};  ///< Of its resources.gpus cards together; empty: not said.
  model::Micros price_per_hour;
  std::string shut;           ///< Why it cannot be created now (a gate's text); empty: it can.
  bool at_quota = false;      ///< `shut` is the quota of its cloud: the end of a host may open it.
  std::string quota_group;    ///< Whose hosts count for that quota; set if some offering is at it.
  bool awaits_price = false;  ///< `shut` until its cloud says what it costs, which is soon.
  bool unavailable = false;   ///< The cloud says that it has none now: no price is compared to its.
  bool can_stop = false;      ///< Its instances can be switched off and kept.
  std::string note;  ///< Why its resources are less than those of the menu; empty: they are not.
};

enum class HostPhase : std::uint8_t {
  kComing,     ///< requested, booting or unknown: waiting items may be counted on it.
  kReady,      ///< idle or busy.
  kStopped,    ///< Switched off: standby, or unwanted.
  kLingering,  ///< Vanished lately, or its destroys have no effect: it counts for ceilings and for
               ///< its pool's maximum only.
  kLeaving,    ///< terminating, abandoned or vanished long ago: it counts for ceilings at most.
};
/// A host is drained before it goes because of its pool's bounds (`scaling.drain`).
enum class DrainPhase : std::uint8_t {
  kNone,
  kUnderWay,  ///< It gets no new work, and counts in no bound; it stays on.
  kOver,      ///< It is quiet, or its time is over: it goes when it is empty.
};
/// Reports of an outside scheduler about its agent on a host (pools with `pushed`).
enum class AgentState : std::uint8_t {
  kNone,    ///< No scheduler sizes its pool.
  kComing,  ///< No agent has connected, and the host is younger than `starting`: it takes tasks.
  kIdle,
  kBusy,  ///< Something runs there: the host is `busy` too, and stays.
  kLost,  ///< Older, and without agent. It takes no tasks, and goes after `disconnected`.
};
/// A host as the planner sees it: a member for each fact that decides what may be done with it.
struct HostView {
  model::InstanceId id;
  std::uint32_t offering =
      UINT32_MAX;  ///< Index into Snapshot::offerings; UINT32_MAX: its type has left the menu.
  std::uint32_t pool = 0;  ///< Index into SitePolicy.
  HostPhase phase = HostPhase::kComing;
  bool takes_work = false;  ///< Ready, healthy, idle behavior run, not lent: work may be placed.
  bool busy = false;  ///< Attempts start or run on it, their output is still there, or it is lent:
                      ///< it is not empty, so it gets no exclusive work and is not shut down.
  std::optional<Mono> lent_until;  ///< It is lent: when the term of its lease ends.
  bool kept = false;      ///< Never shut down: idle behavior hold, or off while its set is closed.
  bool draining = false;  ///< Idle behavior drain: shut down when it is empty.
  bool cordoned = false;  ///< Its cloud takes it back soon: shut down when it is empty.
  bool adopted = false;   ///< kComing after a restart: only its own deadline ends it.
  bool can_stop = false;  ///< As of its offering.
  /// Its set is closed. One that is off may be standby. One that is on: the set was not open since
  /// the start, so `can_stop` says nothing yet.
  bool power_unknown = false;
  bool can_wake = false;  ///< kStopped, and it may be switched on now.
  bool unfulfilled_spot = false;
  bool unseen = false;  ///< kComing, and its set has had no list for long that could show it: it
                        ///< covers no work that an offering of another set can take.
  model::Resources total, free;  ///< Of gpus: the healthy cards, and those of them that are free.
  /// Its healthy cards by group, if it has reported others than its offering or its type on the
  /// menu has; empty: they are as its offering says.
  model::GpuGroups gpus = {};
  /// Its free cards by group, if it has cards of several groups, whatever its phase is; together
  /// they are free.gpus. Of one group or none free.gpus says enough, and this may be empty.
  model::GpuGroups cards = {};
  std::int32_t jobs_max = 0;               ///< At the same time (model::jobs_max_of).
  std::int32_t attempts_left = INT32_MAX;  ///< So many more may run.
  model::Micros price_per_hour;
  Mono created;
  Mono since;  ///< kReady and not busy: when it became idle.
  std::optional<Mono> unreachable_since;
  std::optional<demand::ClassId> reserved_for;  ///< By an earlier plan, against starvation.
  /// Of its Create, so that the next plan does not create again. Also of a host that is ready and
  /// has not been given work: it gets these items first.
  std::vector<demand::Load> load;
  bool work_cancelled = false;  ///< kComing: the items of its Create were cancelled, or may have
                                ///< gone to other hosts while it was unseen.
  bool for_exchange = false;    ///< It was created to replace a dearer host.
  bool ends = false;            ///< kLeaving: its destroy is under way, and will free its room.
  std::optional<double> rank = {};  ///< Its `scaling.rank`: the lowest goes first. Unset: unknown.
  DrainPhase drain = DrainPhase::kNone;
  AgentState agent = AgentState::kNone;
  Mono agent_since{};  ///< kIdle, kLost: since then. kComing and was_listed: missing since then.
  bool was_listed = false;    ///< A push has listed its agent.
  bool is_going = false;      ///< The last plan wanted it to go.
  bool acknowledged = false;  ///< Its scheduler places nothing there any more: it may end.

  [[nodiscard]] bool is_on() const {
    return phase == HostPhase::kComing || phase == HostPhase::kReady;
  }
  /// Without work, and at hand for it: standby counts it. Work of this plan aside.
  [[nodiscard]] bool is_empty() const { return !busy && !kept && agent != AgentState::kLost; }
  /// It can be switched off, or may turn out to be so.
  [[nodiscard]] bool may_stop() const { return can_stop || power_unknown; }
  /// It is shut down when it is empty, whatever the bounds of its pool are.
  [[nodiscard]] bool will_go() const { return draining || cordoned || drain != DrainPhase::kNone; }
  /// Switched off and kept: the pool's `stopped` counts such hosts.
  [[nodiscard]] bool is_standby() const {
    return phase == HostPhase::kStopped && can_stop && !kept && !will_go();
  }
  friend bool operator==(const HostView&, const HostView&) = default;
};

/// What the hosts that went lately mean for a pool.
struct Rest {
  /// So many hosts of minimum and standby have given way to work: they are not replaced yet.
  std::int64_t hosts = 0;
  bool exchange = false;  ///< No exchange is begun.
};

/// The entry of a pool in a list by pool; an empty one beyond the end of a list that may be
/// shorter.
template <class T>
[[nodiscard]] const T& entry_of(const std::vector<T>& by_pool, std::size_t pool) {
  static const T kEmpty{};
  return pool < by_pool.size() ? by_pool[pool] : kEmpty;
}

/// The whole input of a plan, besides the policy.
struct Snapshot {
  Mono now;
  std::vector<demand::ClassView> classes;  ///< In the queue's order.
  bool has_limits = false;                 ///< Some principal has a limit of running work.
  std::vector<HostView> hosts;             ///< Every instance that is not gone, by id.
  std::vector<Offering> offerings;         ///< In any order; plans name them by index.
  gates::Headroom site;
  std::vector<gates::Headroom> sets, pools;  ///< By index into SitePolicy.
  /// Instances of each pool that are no hosts here, and count for its maximum. May be shorter.
  std::vector<std::int64_t> set_aside;
  std::vector<Rest> rests;  ///< By pool. May be shorter.
  BoundsByPool bounds;      ///< Of all sources but the configuration.
};

}  // namespace hostler::scheduler
