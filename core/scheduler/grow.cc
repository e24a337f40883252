#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/assert.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/join_lots.h"
#include "core/scheduler/pack.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/room.h"
#include "core/scheduler/steps.h"
#include "core/scheduler/targets.h"
#include "core/scheduler/whole_hosts.h"

namespace hostler::scheduler {
namespace {

/// "3 waiting jobs need it, and 1 on hosts that will be interrupted"
std::string needed_by(model::WorkKind kind, std::uint64_t waiting, std::uint64_t displaced) {
  const std::uint64_t first = waiting > 0 ? waiting : displaced;
  const std::string where = " on hosts that will be interrupted";
  std::string out = std::to_string(first) + (waiting > 0 ? " waiting " : " ") + noun_of(kind) +
                    (first == 1 ? "" : "s") + (waiting > 0 ? "" : where) +
                    (first == 1 ? " needs it" : " need it");
  if (waiting > 0 && displaced > 0) out += ", and " + std::to_string(displaced) + where;
  return out;
}

/// Looks at demands for one host, to fill what the items of joined lots leave free there.
constexpr int kLooksMax = 256;

/// Items of one demand on a host.
struct Items {
  std::uint32_t demand = 0;
  std::uint64_t count = 0;
};

/// Before the plan creates any.
struct Counts {
  std::vector<std::int64_t> instances;  ///< By offering.
  std::vector<PoolHosts> pools;
};

Counts count(const World& world) {
  Counts out{std::vector<std::int64_t>(world.snapshot.offerings.size()), count_hosts(world)};
  for (const HostView& host : world.snapshot.hosts)
    if (host.phase != HostPhase::kLeaving && host.offering < out.instances.size())
      ++out.instances[host.offering];
  return out;
}

/// Decides creates, within the ceilings.
class Buyer {
 public:
  Buyer(World& world, Plan& plan, const Counts& counts)
      : world_(world),
        plan_(plan),
        before_(world.budget),
        instances_(counts.instances),
        pools_(counts.pools),
        wakeable_(wakeable(world)) {}

  /// Some offering can be created now.
  [[nodiscard]] bool may_buy_any() const {
    return std::any_of(world_.offers.begin(), world_.offers.end(), [&](std::uint32_t i) {
      return may_buy(world_, world_.snapshot.offerings[i]);
    });
  }

  /// Counts a create that is in the plan already.
  void count(const Create& create) {
    ++instances_[create.offering];
    ++pools_[world_.snapshot.offerings[create.offering].pool].alive;
  }

  /// Buys hosts for World::demand[from] to [to - 1]. True if a ceiling prevented some of it. Those
  /// that share hosts are bought for together, when the first of them has its turn.
  bool buy(std::uint32_t from, std::uint32_t to) {
    std::uint32_t first = from;
    while (first < to && is_exclusive(first)) ++first;
    bool bounded = buy_whole(from, first);
    bounded = buy_shared(first, to) || bounded;
    return buy_whole(first, to) || bounded;
  }

  /// Wakes and creates the hosts that the pool's target lacks, except those that gave way lately.
  void keep_ready(std::uint32_t p) {
    const std::string& name = world_.policy.pools[p].name;
    const PoolNumbers& bounds = world_.bounds[p];
    PoolHosts& hosts = pools_[p];
    const Target target = target_of(bounds, hosts.in_use());
    const std::int64_t gave_way = entry_of(world_.snapshot.rests, p).hosts;
    while (target.missing(hosts) > gave_way) {
      const std::string reason = text_of(target.why_missing(hosts), bounds, name);
      if (wake_one(p, reason)) continue;
      const std::uint32_t o = cheapest(p, ComesAs::kStarted);
      if (o == kNone) break;
      create(o, std::nullopt, {}, reason);
      ++hosts.empty;
    }
    while (target.missing_off(hosts) > gave_way) {
      std::uint32_t o = cheapest(p, ComesAs::kStandby);
      // Hosts that cannot be switched off stay on.
      if (o == kNone && target.reason_off == TargetReason::kCreated)
        o = cheapest(p, ComesAs::kStarted);
      if (o == kNone) return;
      create(o, std::nullopt, {}, text_of(target.reason_off, bounds, name));
      ++hosts.empty;
    }
  }

 private:
  [[nodiscard]] bool is_exclusive(std::uint32_t d) const {
    return world_.demand[d].view->shape.exclusive;
  }

  /// Buys a host for each item of the exclusive demands. True if a ceiling prevented some of it, or
  /// what this plan has bought for others.
  bool buy_whole(std::uint32_t from, std::uint32_t to) {
    bool bounded = false;
    std::vector<Items> load;
    for (std::uint32_t d = from; d < to; ++d) {
      const Demand& demand = world_.demand[d];
      if (demand.uncovered == 0 || !is_exclusive(d)) continue;
      for (const auto& equal : whole_hosts(world_, demand)) {
        std::uint32_t o = rotate(equal);
        for (; demand.uncovered > 0 && o != kNone; o = rotate(equal)) {
          load.clear();
          if (put(o, d, 1, load) == 0) break;
          create_for(o, load);
        }
        if (demand.uncovered == 0) break;
        bounded = bounded || (o == kNone && std::ranges::any_of(equal, [&](std::uint32_t i) {
                                return before_.creates(world_.snapshot.offerings[i], 1) > 0;
                              }));
      }
    }
    return bounded;
  }

  /// Buys hosts for the others. Too many lots are joined, and most of their items get hosts; the
  /// rest has fewer lots.
  bool buy_shared(std::uint32_t from, std::uint32_t to) {
    bool bounded = false;
    std::vector<bool> tried(to, false);  // By demand: its lot was packed as it is.
    for (;;) {
      std::vector<Lot> lots = lots_of(world_, from, to);
      std::erase_if(lots, [&](const Lot& lot) { return tried[lot.demand.front()]; });
      if (lots.size() <= kLotsMax) return pack(std::move(lots)) || bounded;
      std::vector<Lot> joined = join_similar(world_, lots, kLotsMax);
      joined.resize(std::min(joined.size(), kLotsMax));
      const std::size_t before = plan_.creates.size();
      bounded = pack_joined(std::move(joined)) || bounded;
      if (plan_.creates.size() > before) continue;
      if (!may_buy_any()) return true;
      // The most of each resource together fits no host, or nothing here fits one.
      lots.resize(kLotsMax);
      for (const Lot& lot : lots)
        for (const std::uint32_t d : lot.demand) tried[d] = true;
      bounded = pack(std::move(lots)) || bounded;
    }
  }

  /// Buys hosts for all items of the lots. True if a ceiling prevented some of it.
  bool pack(std::vector<Lot> lots) {
    Packer packer(world_, std::move(lots));
    bool bounded = false;
    std::vector<Items> load;
    while (const auto pattern = packer.next()) {
      std::uint64_t bought = 0;
      for (; bought < pattern->copies; ++bought) {
        const std::uint32_t o = rotate(packer.kind(pattern->kind).offerings);
        if (o == kNone) break;
        load.clear();
        HOSTLER_ASSERT(assign(o, packer, *pattern, load), "a pattern holds items that lack a host");
        create_for(o, load);
      }
      packer.took(*pattern, bought);
      if (bought == pattern->copies) continue;
      bounded = true;
      packer.exhausted(pattern->kind);
    }
    return bounded;
  }

  /// Likewise for three quarters of the items of joined lots. Items fill the room that others,
  /// which need less than their lot says, leave on a host; so lots run out early.
  bool pack_joined(std::vector<Lot> lots) {
    std::uint64_t left = 0;
    for (const Lot& lot : lots) left += lot.left;
    const std::uint64_t until = left / 4;
    Packer packer(world_, std::move(lots));
    bool bounded = false;
    std::vector<Items> load;
    while (left > until) {
      const auto pattern = packer.next();
      if (!pattern) break;
      bool at_ceiling = false;
      for (std::uint64_t bought = 0; bought < pattern->copies && left > until; ++bought) {
        const std::uint32_t o = rotate(packer.kind(pattern->kind).offerings);
        at_ceiling = o == kNone;
        if (at_ceiling) break;
        load.clear();
        (void)assign(o, packer, *pattern, load);
        if (load.empty()) break;
        top_up(o, packer, *pattern, load);
        for (const Items& items : load) left -= std::min(left, items.count);
        create_for(o, load);
      }
      packer.took(*pattern, at_ceiling ? 0 : pattern->copies);
      if (!at_ceiling) continue;
      bounded = true;
      packer.exhausted(pattern->kind);
    }
    return bounded;
  }

  /// The pool's cheapest offering that can be created now, or kNone; zones of one price rotate.
  [[nodiscard]] std::uint32_t cheapest(std::uint32_t p, ComesAs as) const {
    std::vector<std::uint32_t> equal;
    for (const std::uint32_t i : world_.offers) {
      const Offering& o = world_.snapshot.offerings[i];
      if (o.pool != p || (as == ComesAs::kStandby && !o.can_stop) || !may_buy(world_, o, as))
        continue;
      if (!equal.empty()) {
        const Offering& first = world_.snapshot.offerings[equal.front()];
        if (first.price_per_hour != o.price_per_hour || first.type != o.type) break;
      }
      equal.push_back(i);
    }
    return rotate(equal, as);
  }

  bool wake_one(std::uint32_t p, const std::string& reason) {
    const auto& hosts = world_.snapshot.hosts;
    const auto found = std::find_if(wakeable_.begin(), wakeable_.end(), [&](std::uint32_t h) {
      return hosts[h].pool == p && !world_.used[h] && world_.budget.may_wake(hosts[h]);
    });
    if (found == wakeable_.end()) return false;
    world_.budget.wake(hosts[*found]);
    world_.used[*found] = true;
    plan_.wakes.push_back({hosts[*found].id, {}, reason});
    --pools_[p].off;
    ++pools_[p].alive;
    ++pools_[p].empty;
    return true;
  }

  /// Of the offerings that can be created the one with the fewest instances, or kNone.
  [[nodiscard]] std::uint32_t rotate(const std::vector<std::uint32_t>& offerings,
                                     ComesAs as = ComesAs::kStarted) const {
    std::uint32_t best = kNone;
    for (const std::uint32_t o : offerings)
      if ((best == kNone || instances_[o] < instances_[best]) &&
          world_.budget.creates(world_.snapshot.offerings[o], 1, nullptr, as) > 0)
        best = o;
    return best;
  }

  /// Puts the items of the pattern on a new host, the most urgent ones of each lot first. False if
  /// some of them have hosts by now.
  bool assign(std::uint32_t o, const Packer& packer, const Pattern& pattern,
              std::vector<Items>& load) {
    bool all = true;
    for (const auto& [l, wanted] : pattern.items) {
      std::uint64_t left = wanted;
      for (const std::uint32_t d : packer.lot(l).demand) {
        if (left == 0) break;
        left -= put(o, d, left, load);
      }
      all = all && left == 0;
    }
    return all;
  }

  /// Adds items of the pattern's lots that fit into what the load leaves free.
  void top_up(std::uint32_t o, const Packer& packer, const Pattern& pattern,
              std::vector<Items>& load) {
    const Offering& offering = world_.snapshot.offerings[o];
    HostRoom room = HostRoom::of_empty(offering.resources, offering.gpus,
                                       packer.kind(pattern.kind).attempts_max);
    for (const auto& [of, count] : load) room.take(need_of(of), room.count(need_of(of), count));
    int looks = kLooksMax;
    for (const auto& [l, unused] : pattern.items)
      for (const std::uint32_t d : packer.lot(l).demand) {
        if (room.attempts_left == 0 || --looks < 0) return;
        room.take(need_of(d), put(o, d, room.count(need_of(d), UINT64_MAX), load));
      }
  }
  [[nodiscard]] const Need& need_of(std::uint32_t d) const {
    return world_.needs[world_.demand[d].need];
  }

  /// Puts up to `wanted` items of the demand into the load. Returns their number.
  std::uint64_t put(std::uint32_t o, std::uint32_t d, std::uint64_t wanted,
                    std::vector<Items>& load) {
    Demand& demand = world_.demand[d];
    const Offering& offering = world_.snapshot.offerings[o];
    const std::uint64_t count =
        world_.affordable(demand, offering, std::min(wanted, demand.uncovered));
    if (count == 0) return 0;
    demand.uncovered -= count;
    world_.pay(demand, offering, count);
    load.push_back({d, count});
    return count;
  }

  void create_for(std::uint32_t o, const std::vector<Items>& items) {
    std::vector<demand::Load> load;
    load.reserve(items.size());
    std::uint32_t most_urgent = kNone;
    std::uint64_t waiting = 0, displaced = 0;
    bool is_any_displaced = false;
    for (const auto& [d, count] : items) {
      const demand::ClassView& view = *world_.demand[d].view;
      is_any_displaced = is_any_displaced || view.displaced;
      const bool waits = !view.displaced || view.kind == model::WorkKind::kTask;
      (waits ? waiting : displaced) += count;
      most_urgent = std::min(most_urgent, d);
      load.push_back({view.id, static_cast<std::uint32_t>(count)});
    }
    HOSTLER_ASSERT(most_urgent != kNone, "a host is created for items");
    const demand::ClassView& first = *world_.demand[most_urgent].view;
    create(o, first.id, std::move(load), reason_for(first.kind, waiting, displaced));
    plan_.creates.back().displaced = is_any_displaced;
  }

  /// Most hosts in a row are for as many items as the one before.
  const std::string& reason_for(model::WorkKind kind, std::uint64_t waiting,
                                std::uint64_t displaced) {
    if (const std::tuple counts{kind, waiting, displaced}; reason_.first != counts)
      reason_ = {counts, needed_by(kind, waiting, displaced)};
    return reason_.second;
  }

  void create(std::uint32_t o, std::optional<demand::ClassId> cls, std::vector<demand::Load> load,
              std::string reason) {
    const Offering& offering = world_.snapshot.offerings[o];
    world_.budget.create(offering, 1);
    Create& added = plan_.creates.emplace_back();
    added.offering = o;
    added.for_class = cls;
    added.load = std::move(load);
    added.reason = std::move(reason);
    count(added);
  }

  World& world_;
  Plan& plan_;
  const Budget before_;                  ///< What this object has bought not counted.
  std::vector<std::int64_t> instances_;  ///< By offering, planned ones included.
  std::vector<PoolHosts> pools_;         ///< Likewise.
  std::vector<std::uint32_t> wakeable_;
  /// The last result of reason_for(), and what it was for.
  std::pair<std::tuple<model::WorkKind, std::uint64_t, std::uint64_t>, std::string> reason_;
};

}  // namespace

void grow(World& world, Plan& plan) {
  const auto classes = static_cast<std::uint32_t>(world.demand.size());
  const Counts counts = count(world);
  const bool missing = std::any_of(world.demand.begin(), world.demand.end(),
                                   [](const Demand& d) { return d.uncovered > 0; });
  if (missing) {
    // All items together are packed at the lowest price. If a ceiling prevents that, each priority
    // is packed on its own, the highest first.
    const Budget budget = world.budget;
    const std::vector<Demand> demand = world.demand;
    const std::vector<demand::PriceBound> prices = world.prices;
    Plan all = plan;
    if (!Buyer(world, all, counts).buy(0, classes)) {
      plan = std::move(all);
    } else {
      world.budget = budget;
      world.demand = demand;
      world.prices = prices;
      Buyer buyer(world, plan, counts);
      for (std::uint32_t from = 0, to = 0; from < classes && buyer.may_buy_any(); from = to) {
        while (to < classes && demand[to].view->shape.priority == demand[from].view->shape.priority)
          ++to;
        buyer.buy(from, to);
      }
    }
  }
  Buyer keeper(world, plan, counts);
  for (const Create& create : plan.creates) keeper.count(create);
  for (std::uint32_t p = 0; p < world.policy.pools.size(); ++p)
    if (!world.bounds[p].is_held) keeper.keep_ready(p);
}

}  // namespace hostler::scheduler
