#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/queue.h"

namespace hostler::scheduler {

/// Menu type x zone x market in one set, for one pool, as it can be had now.
struct Offering {
  std::uint32_t pool = 0, set = 0, type = 0;  ///< Indices into SitePolicy.
  std::string zone;                           ///< Empty: the driver chooses.
  model::Market market = model::Market::kOnDemand;
  model::Resources resources;
  model::Micros price_per_hour;
  std::string shut;       ///< Why it cannot be had now (a gate's text); empty: open.
  bool can_stop = false;  ///< Its instances can be kept switched off.
};

/// Items of a class that are counted on a host that is still coming.
struct Load {
  ClassId cls = 0;
  std::uint32_t count = 0;

  friend bool operator==(const Load&, const Load&) = default;
};

struct ClassView {
  ClassId id = 0;
  model::WorkShape shape;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> heads = {};  ///< Arrivals of the first items, at most 32.
  Mono oldest = {};                       ///< Since when its first item waits.
};

enum class HostPhase : std::uint8_t {
  kComing,   ///< requested, booting, or unknown: counts against what waits.
  kReady,    ///< idle or busy: verified.
  kStopped,  ///< Switched off: standby, or not wanted.
  kLeaving,  ///< terminating or abandoned: counts for ceilings only.
};

struct HostView {
  model::InstanceId id;
  std::uint32_t offering =
      UINT32_MAX;          ///< Index into Snapshot::offerings; none: type has left the menu.
  std::uint32_t pool = 0;  ///< Index into SitePolicy.
  HostPhase phase = HostPhase::kComing;
  bool takes_work = false;  ///< Ready, healthy, idle behavior run: may be given work.
  bool busy = false;        ///< Something runs or is being started on it.
  bool kept = false;        ///< hold, or off and out of its cloud's reach: never shut down.
  bool draining = false;    ///< drain: to be shut down when empty.
  bool adopted = false;     ///< kComing after a restart: only its own deadline ends it.
  bool can_stop = false;    ///< As its offering.
  bool can_wake = false;    ///< kStopped, and may be switched on now.
  bool unfulfilled_spot = false;
  model::Resources total, free;
  std::int32_t attempts_left = INT32_MAX;  ///< More that may run at once (attempts_parallel_max).
  model::Micros price_per_hour;
  Mono created;
  Mono since;  ///< kReady and not busy: since when it is idle.
  std::optional<Mono> unreachable_since;
  std::optional<ClassId> reserved_for;  ///< By an earlier plan, against starvation.
  std::vector<Load> load;  ///< kComing: Create::load, so that no plan repeats an earlier one.

  /// Switched off, to be kept so: what a pool's `stopped` counts.
  [[nodiscard]] bool is_standby() const {
    return phase == HostPhase::kStopped && can_stop && !kept && !draining;
  }
  friend bool operator==(const HostView&, const HostView&) = default;
};

/// Headroom below one ceiling now; nullopt: no ceiling.
struct Headroom {
  std::optional<std::int64_t> instances, creates, destroys;
  std::optional<model::Micros> price_per_hour;
};

/// Everything one decision may look at. If the plan needs it, it is a field here.
struct Snapshot {
  Mono now;
  std::vector<ClassView> classes;   ///< In the queue's order.
  std::vector<HostView> hosts;      ///< Every instance not gone, by id.
  std::vector<Offering> offerings;  ///< Any order; the index is the name.
  Headroom site;
  std::vector<Headroom> sets, pools;  ///< By index into SitePolicy.
};

}  // namespace hostler::scheduler
