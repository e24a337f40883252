#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/reason.h"
#include "core/scheduler/snapshot.h"

namespace hostler::scheduler {

/// Put the first `count` items of the class on the host.
struct Place {
  model::InstanceId host;
  ClassId cls = 0;
  std::uint32_t count = 0;
};
struct Create {
  std::uint32_t offering = 0;        ///< Index into Snapshot::offerings.
  std::optional<ClassId> for_class;  ///< Unset: minimum or standby of the pool.
  std::vector<Load> load;            ///< What it is for; the kernel keeps it for HostView::load.
  std::string reason;
  std::string passed_over;  ///< "small: 1 of 2 vcpus": cheaper ones, and what each fails first.
};
/// Switch it on again; `load` as in Create.
struct Wake {
  model::InstanceId host;
  std::vector<Load> load;
  std::string reason;
};
/// Switch it off and keep it.
struct SwitchOff {
  model::InstanceId host;
  std::string reason;
};
enum class ShutdownCode : std::uint8_t {
  kUnwantedSpot,
  kFailed,
  kUnreachable,
  kIdle,
  kDrained,
  kBootingSurplus,
  kStandbySurplus,
};
[[nodiscard]] model::Reason reason_of(ShutdownCode code);
struct Shutdown {
  model::InstanceId host;
  ShutdownCode code{};
  std::string reason;
};
/// Nothing but the class's first item goes on this host until it got its place.
struct Reserve {
  model::InstanceId host;
  ClassId cls = 0;
};
/// Why a class still waits after this plan, for its jobs' waiting_because.
struct Waiting {
  ClassId cls = 0;
  model::WaitingCode code{};
  std::string reason;
};
/// A candidate not taken and its first failing constraint; kept for `why`.
struct Rejected {
  ClassId cls = 0;
  std::uint32_t offering = 0;
  std::string reason;
};

/// What one look at the world yields. Applying it in order never passes a headroom; each action is
/// checked against the present by whoever applies it, since the world may have moved on.
struct Plan {
  std::vector<Place> places;
  std::vector<Wake> wakes;
  std::vector<Create> creates;
  std::vector<SwitchOff> switch_offs;
  std::vector<Shutdown> shutdowns;
  std::vector<Reserve> reservations;  ///< All that hold from now on; earlier ones are void.
  std::vector<Waiting> waiting;
  std::vector<Rejected> rejected;
};

/// Decides what to do next. Pure: equal arguments give equal plans whatever the order of hosts and
/// offerings; ties end in ids. Cost goes by classes, hosts, offerings and actions.
[[nodiscard]] Plan make_plan(const Snapshot& snapshot, const model::SitePolicy& policy);

/// The class whose first item goes next on a host that has room now, or nullopt: highest priority,
/// then first come; respects constraints and the host's reservation. Of the order of the number
/// of classes; called once for each job that is placed. `type_name` is the host's menu type.
[[nodiscard]] std::optional<ClassId> pick_next(const Queue& queue, const HostView& host,
                                               const std::string& type_name,
                                               const std::string& zone, model::Market market);

/// The cheapest offering that one item of the shape fits now or may one day; ties by type name,
/// zone, pool. nullopt if none; `nearest` then names up to three types and what each lacks ("small:
/// 2 of 8 vcpus").
[[nodiscard]] std::optional<std::uint32_t> cheapest_fit(const model::WorkShape& shape,
                                                        const std::vector<Offering>& offerings,
                                                        const model::SitePolicy& policy,
                                                        std::string* nearest);

}  // namespace hostler::scheduler
