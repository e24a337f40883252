#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/demand/queue.h"
#include "core/model/reason.h"
#include "core/scheduler/beyond_max.h"
#include "core/scheduler/snapshot.h"

namespace hostler::scheduler {

/// Put the first `count` items of the class on the host, of those within their allowances.
struct Place {
  model::InstanceId host;
  demand::ClassId cls = 0;
  std::uint32_t count = 0;
};
struct Create {
  std::uint32_t offering = 0;                ///< Index into Snapshot::offerings.
  std::optional<demand::ClassId> for_class;  ///< Unset: minimum or standby of the pool.
  std::vector<demand::Load>
      load;  ///< The items it is for; the dispatcher keeps it as HostView::load.
  std::string reason;
  bool displaced = false;    ///< Some of the items are displaced: none of its class need wait.
  std::string passed_over;   ///< Cheaper types and why each was not taken: "small: 1 of 2 vcpus".
  bool is_exchange = false;  ///< It replaces a dearer host: the dispatcher keeps it as
                             ///< HostView::for_exchange.
};
/// Switch the host on again; `load` as in Create.
struct Wake {
  model::InstanceId host;
  std::vector<demand::Load> load;
  std::string reason;
  bool displaced = false;  ///< As Create::displaced.
};
/// Switch the host off and keep it.
struct SwitchOff {
  model::InstanceId host;
  std::string reason;
  model::Reason code = model::Reason::kIdle;  ///< One that still_true() knows.
};
struct Shutdown {
  model::InstanceId host;
  model::Reason code{};  ///< One that still_true() knows (shutdown_rule.h).
  std::string reason;
  bool gives_way = false;  ///< To work: minimum and standby do not replace it yet, see Rest.
};
/// Begin the drain of the host: it goes once that is over (HostView::drain).
struct Drain {
  model::InstanceId host;
  std::string reason;
};
/// The host is to go, and its scheduler has not acknowledged that (docs/pushed.md).
struct Going {
  model::InstanceId host;
  std::string reason;
};
/// Only the first item of the class may be placed on the host, until it was placed.
struct Reserve {
  model::InstanceId host;
  demand::ClassId cls = 0;
};
/// The host gets no new work.
struct Close {
  model::InstanceId host;
  Closed why{};
};
/// Why items of a class still wait after this plan: waiting_because of its jobs.
struct Waiting {
  demand::ClassId cls = 0;
  model::WaitingCode code{};
  std::string reason;
  bool is_priced = false;  ///< It is about the items with a ClassView::price.
  /// The least that an item's part costs of a host that can be bought for it now, whatever its
  /// principal may pay; unset: none can be bought, or Snapshot::has_limits is unset. 0 for a gang
  /// that starves: other work of its principal does not use up its limits first.
  std::optional<model::Micros> part_from = {};
  /// With kHostComing: why no host comes for the others of its items; empty: hosts come for all.
  std::string rest_reason = {};
  model::WaitingCode rest_code{};
};
/// An offering that was not bought for a class, and the first constraint it failed; for `why`.
struct Rejected {
  demand::ClassId cls = 0;
  std::uint32_t offering = 0;
  std::string reason;
};

/// The decisions about one snapshot. Applied in order, they pass no ceiling. The snapshot may be
/// out of date: the dispatcher checks each action again before it applies it.
struct Plan {
  std::vector<Place> places;   ///< Those of a gang follow each other, one for each item.
  std::vector<Place> covered;  ///< Items that wait for hosts which come already; no action.
  std::vector<Wake> wakes;
  std::vector<Create> creates;
  std::vector<SwitchOff> switch_offs;
  std::vector<Shutdown> shutdowns;
  std::vector<Drain> drains;
  std::vector<Going> going;
  std::vector<Reserve> reservations;  ///< Replace all earlier ones.
  std::vector<Close> closed;          ///< By id. Likewise.
  std::vector<Waiting> waiting;
  std::vector<Rejected> rejected;
};

/// Makes a plan. Pure: equal arguments give equal plans, in any order of hosts and offerings; ids
/// break ties. The time grows with classes, hosts, offerings and actions, not with jobs.
[[nodiscard]] Plan make_plan(const Snapshot& snapshot, const model::SitePolicy& policy);

/// The class whose next item goes on a host that has room, or nullopt: the highest priority, then
/// the next turn that meets the constraints, the host's reservation and its principal's allowance
/// at the host's price. An exclusive item goes on a host without work only. As Queue::next();
/// called once for each item that is placed. `pool` is the host's, `type` its type on the menu.
[[nodiscard]] std::optional<demand::ClassId> pick_next(
    const demand::Queue& queue, const HostView& host, const model::PoolPolicy& pool,
    const model::InstanceType& type, const std::string& zone, model::Market market);

/// The cheapest offering that an item of the shape fits, even if its price is above the cap today;
/// ties as in cheaper(). nullopt if there is none; `nearest` then names up to three types
/// and what each lacks ("small: 2 of 8 vcpus"), or why its pool is not for work of the kind.
[[nodiscard]] std::optional<std::uint32_t> cheapest_fit(
    const model::WorkShape& shape, const std::vector<Offering>& offerings,
    const model::SitePolicy& policy, std::string* nearest,
    model::WorkKind kind = model::WorkKind::kJob);

}  // namespace hostler::scheduler
