#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/demand/shares.h"
#include "core/model/policy.h"
#include "core/scheduler/beyond_max.h"
#include "core/scheduler/bounds.h"
#include "core/scheduler/budget.h"
#include "core/scheduler/plan.h"

/// The state that the steps of a plan share: the snapshot with indices for fast access, and the
/// demand and headroom that are left.
namespace hostler::scheduler {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// The waiting items of one class, and how many of them the plan has dealt with.
struct Demand {
  const demand::ClassView* view = nullptr;
  std::uint32_t need = 0;       ///< Index into World::needs.
  std::uint32_t price = kNone;  ///< Index into World::prices, if its view has a price.
  std::uint64_t left = 0;       ///< Not placed yet; 0 if the view is `displaced`.
  std::uint64_t uncovered = 0;  ///< Neither placed nor counted on a host.
  std::uint64_t placed = 0;
  std::uint64_t on_unseen = 0;   ///< Counted on hosts that are unseen.
  std::uint32_t unseen = kNone;  ///< One of these hosts.
  std::uint64_t missing = 0;     ///< Hosts that a gang lacks, if not all of them are to be had.
  demand::Turn pace = {};  ///< From one turn to the next beyond ClassView::heads, as estimated.

  /// Items that wait for a host: a task is never placed, so all of them do.
  [[nodiscard]] std::uint64_t waiting() const {
    return view->kind == model::WorkKind::kTask ? view->count : left;
  }
  /// Some of its items can have no host now.
  [[nodiscard]] bool lacks_hosts() const { return uncovered > 0 || missing > 0; }
  /// The turn of the n-th item in the snapshot; estimated beyond ClassView::heads.
  [[nodiscard]] demand::Turn turn(std::uint64_t n) const;
};

/// Whether the items of a need may go on hosts of an offering, size aside.
enum class Meets : std::uint8_t {
  kNo,
  kButCards,  ///< Its cards are of other kinds, or no kind has enough of them for an item.
  kYes,
};

/// The properties that decide where an item may run. Classes that differ in priority share one.
struct Need {
  model::Resources resources;
  const model::Constraints* constraints = nullptr;
  model::WorkKind kind = model::WorkKind::kJob;
  bool exclusive = false;    ///< An item takes a host without work, whole.
  std::vector<Meets> meets;  ///< By offering; empty: unconstrained.
  std::uint64_t items = 0;   ///< Of all its classes.
  /// By market: the price that price_factor_max multiplies, of the cheapest offering that fits
  /// within its pool's cap, gates aside. Offerings that cost nothing do not count, nor those whose
  /// ceiling or quota our own hosts have filled. For spot also that of on_demand, if it is lower.
  /// -1: none.
  model::Micros cheapest[2];
  bool has_on_demand = false;  ///< An on_demand offering fits within its pool's cap.
  /// Spot offerings fit within their pools' caps and price factors, and cost an item less than the
  /// on_demand hosts that can be bought now. What follows is of these.
  bool has_spot = false;
  /// Gates hold back each of them.
  bool spot_is_short = false;
  /// Some of them pass their gates, and a ceiling of the site has no room for any of these.
  bool spot_at_ceiling = false;
  /// A spot request that could hold it stayed unfulfilled for too long: it falls back to on_demand
  /// now, or it would try one zone after the other for ever.
  bool spot_in_vain = false;

  [[nodiscard]] bool falls_back() const { return !constraints->market && has_on_demand; }
  [[nodiscard]] const model::GpuWish& wish() const { return constraints->gpu; }
};

/// How many items of the need fit into the room of a host that is empty. `cards`: its cards by
/// group; empty: the room has as many as it says, of the right kind.
[[nodiscard]] std::uint64_t fit_count(const Need& need, const model::Resources& room,
                                      const model::GpuGroups& cards);

/// It is a gang all of whose items wait and are within their user's allowance, and it may hold
/// hosts now.
[[nodiscard]] bool may_gather(const demand::ClassView& view, Mono now);

class World {
 public:
  World(const Snapshot& snapshot, const model::SitePolicy& policy);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Snapshot& snapshot;
  const model::SitePolicy& policy;
  const std::vector<PoolNumbers> bounds;  ///< By pool.
  std::vector<Demand> demand;             ///< In the queue's order.
  std::vector<Need> needs;
  std::vector<demand::PriceBound>
      prices;                         ///< What is left of ClassView::price, of those that have one.
  std::vector<std::uint32_t> hosts;   ///< Indices into snapshot.hosts, by id.
  std::vector<std::uint32_t> offers;  ///< Indices of valid offerings, cheapest first.
  std::vector<bool> used;             ///< By host: items were placed or counted on it.
  std::vector<bool> stale_spot;       ///< By host: a spot request unfulfilled for too long.
  std::vector<Closed> closed;         ///< By host: it gets no new work, and goes when it is empty.
  std::vector<bool> gives_way;        ///< By host: it is ended, since work needs its room.
  /// By host: kExchanged or kAbovePriceLimit, if it is ended for this; else kNone.
  std::vector<model::Reason> too_dear;
  Budget budget;

  /// Ready, and neither work nor an admin nor a step of the plan has a use for it.
  [[nodiscard]] bool is_idle(std::uint32_t host) const {
    const HostView& view = snapshot.hosts[host];
    return view.phase == HostPhase::kReady && view.takes_work && !view.busy && !used[host] &&
           !view.kept && !view.will_go() && !view.unreachable_since &&
           closed[host] == Closed::kNo && !gives_way[host];
  }
  /// It goes, whatever the bounds of its pool are: others need its room, or it is too dear.
  [[nodiscard]] bool must_go(std::uint32_t host) const {
    return gives_way[host] || too_dear[host] != model::Reason::kNone;
  }
  /// kDisconnected or kTooOld, if the host goes whatever the minimum is (agents.h); else kNone.
  [[nodiscard]] model::Reason goes_anyway(std::uint32_t host) const;
  /// It comes or is ready, and will stay.
  [[nodiscard]] bool is_alive(std::uint32_t host) const {
    const HostView& view = snapshot.hosts[host];
    return view.is_on() && !view.will_go() && closed[host] == Closed::kNo &&
           goes_anyway(host) == model::Reason::kNone;
  }
  /// It is on, and bounds of started hosts want it no more. It counts as switched off for those of
  /// created hosts (or `stopped`), which say whether it is kept in the end: switched off, or as it
  /// is if that cannot be.
  [[nodiscard]] bool turns_off(std::uint32_t host) const;
  /// Of a host by its healthy cards, free or not.
  [[nodiscard]] bool meets(const Need& need, const HostView& host) const;
  [[nodiscard]] bool meets(const Need& need, std::uint32_t offering) const {
    return need.meets.empty() || need.meets[offering] == Meets::kYes;
  }
  /// Whatever the cards of the offering are.
  [[nodiscard]] bool meets_but_cards(const Need& need, std::uint32_t offering) const {
    return need.meets.empty() || need.meets[offering] != Meets::kNo;
  }
  /// The healthy cards of the host by group; empty: not said.
  [[nodiscard]] const model::GpuGroups& cards_of(const HostView& host) const {
    const bool is_as_offered = host.gpus.empty() && host.offering < snapshot.offerings.size();
    return is_as_offered ? snapshot.offerings[host.offering].gpus : host.gpus;
  }
  /// The host is a spot request that took too long, and the need may fall back to on_demand.
  [[nodiscard]] bool given_up(const Need& need, std::uint32_t host) const {
    return stale_spot[host] && need.falls_back();
  }
  /// How many items of the need such a host holds.
  [[nodiscard]] std::uint64_t items_per_host(const Need& need, const Offering& offering) const;
  /// What the part of a host costs that an item of the demand would hold.
  [[nodiscard]] model::Micros price_of_part(const Demand& of, const HostView& host) const;
  [[nodiscard]] model::Micros price_of_part(const Demand& of, const Offering& offering) const;
  [[nodiscard]] model::Micros price_of_part(const model::Resources& item,
                                            const Offering& offering) const;
  /// What that part comes to.
  [[nodiscard]] model::Amounts part_of(const Demand& of, const HostView& host) const {
    return model::Amounts::of(demand::held_by(of.view->shape, host.total), price_of_part(of, host));
  }
  [[nodiscard]] model::Amounts part_of(const Demand& of, const Offering& offering) const {
    return model::Amounts::of(demand::held_by(of.view->shape, offering.resources),
                              price_of_part(of, offering));
  }
  /// How many items the demand can pay for on the host or offering, at most `wanted`.
  template <class Where>
  [[nodiscard]] std::uint64_t affordable(const Demand& of, const Where& where,
                                         std::uint64_t wanted) const {
    return of.price == kNone ? wanted : prices[of.price].count(part_of(of, where), wanted);
  }
  /// For items that go there.
  template <class Where>
  void pay(const Demand& of, const Where& where, std::uint64_t items) {
    if (of.price != kNone) prices[of.price].take(part_of(of, where), items);
  }
  /// The work waits for longer than the host's pool lets it: hosts that have other work may be
  /// reserved for it.
  [[nodiscard]] bool starves(const Demand& of, const HostView& host) const {
    const auto* its = pool(host);
    return its != nullptr && snapshot.now - of.view->oldest >= its->starvation_after;
  }
  /// The last plan has reserved the host for a gang that may go on holding it.
  [[nodiscard]] bool was_held(std::uint32_t host) const;
  /// Index into `demand`, or kNone.
  [[nodiscard]] std::uint32_t find(demand::ClassId cls) const;
  /// The demands of a class: one for each of its views.
  [[nodiscard]] std::span<const std::pair<demand::ClassId, std::uint32_t>> find_all(
      demand::ClassId cls) const;
  [[nodiscard]] const model::PoolPolicy* pool(const HostView& host) const {
    return host.pool < policy.pools.size() ? &policy.pools[host.pool] : nullptr;
  }

 private:
  void group_needs();
  /// Without what find_cheapest() and give_up_spot() set. `are_mixed`: some type has cards of
  /// several groups.
  [[nodiscard]] Need need_of(const demand::ClassView& view, bool are_mixed) const;
  /// Sets Need::spot_in_vain.
  void give_up_spot();
  [[nodiscard]] bool may_hold(const HostView& host, const Need& need) const;
  /// A spot request that stays: an admin holds it, or work that must run on spot needs it.
  [[nodiscard]] bool stays(const HostView& host) const;
  std::vector<std::pair<demand::ClassId, std::uint32_t>> by_class_;
};

}  // namespace hostler::scheduler
