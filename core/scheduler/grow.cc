#include <algorithm>

#include "core/base/assert.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/pack.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

bool is_alive(const HostView& host) {
  return (host.phase == HostPhase::kComing || host.phase == HostPhase::kReady) && !host.draining;
}

/// Decides creates, within the ceilings.
class Buyer {
 public:
  Buyer(World& world, Plan& plan)
      : world_(world),
        plan_(plan),
        instances_(world.snapshot.offerings.size()),
        alive_(world.policy.pools.size()),
        spare_(world.policy.pools.size()),
        stopped_(world.policy.pools.size()),
        wakeable_(wakeable(world)) {
    for (const std::uint32_t h : world.hosts) {
      const HostView& host = world.snapshot.hosts[h];
      if (host.phase != HostPhase::kLeaving && host.offering < instances_.size())
        ++instances_[host.offering];
      if (host.pool >= alive_.size()) continue;
      if (is_standby(world, h)) ++stopped_[host.pool];
      if (!is_alive(host) && !(host.phase == HostPhase::kStopped && world.used[h])) continue;
      ++alive_[host.pool];
      if (!world.used[h] && !host.busy && !host.kept) ++spare_[host.pool];
    }
  }

  /// Some offering can be created: no gate and no ceiling forbids it.
  [[nodiscard]] bool may_buy() const {
    return std::any_of(world_.offers.begin(), world_.offers.end(), [&](std::uint32_t i) {
      const Offering& o = world_.snapshot.offerings[i];
      return o.shut.empty() && world_.budget.creates(o, 1) > 0;
    });
  }

  /// Counts a create that is in the plan already.
  void count(const Create& create) {
    ++instances_[create.offering];
    ++alive_[world_.snapshot.offerings[create.offering].pool];
  }

  /// Buys hosts for World::demand[from] to [to - 1]. True if a ceiling prevented some of it.
  bool buy(std::uint32_t from, std::uint32_t to) {
    Packer packer(world_, lots_of(world_, from, to));
    bool bounded = false;
    while (const auto pattern = packer.next()) {
      std::uint64_t bought = 0;
      for (; bought < pattern->copies; ++bought) {
        const std::uint32_t o = rotate(packer.kind(pattern->kind).offerings);
        if (o == kNone) break;
        buy_one(o, packer, *pattern);
      }
      packer.took(*pattern, bought);
      if (bought == pattern->copies) continue;
      bounded = true;
      packer.exhausted(pattern->kind);
    }
    return bounded;
  }

  /// Wakes and creates hosts for the minimum, standby and `stopped` of the pool.
  void keep_ready(std::uint32_t p) {
    const auto& pool = world_.policy.pools[p];
    while (alive_[p] < pool.min || spare_[p] < pool.standby) {
      const std::string reason =
          (alive_[p] < pool.min ? "minimum of " + std::to_string(pool.min)
                                : "standby of " + std::to_string(pool.standby)) +
          " in pool " + pool.name;
      if (wake_one(p, reason)) continue;
      const std::uint32_t o = cheapest(p, false);
      if (o == kNone) break;
      create(o, std::nullopt, {}, reason);
      ++spare_[p];
    }
    // A host that is idle beyond these numbers is switched off after its idle timeout.
    while (stopped_[p] + std::min(alive_[p] - pool.min, spare_[p] - pool.standby) < pool.stopped) {
      const std::uint32_t o = cheapest(p, true);
      if (o == kNone) return;
      create(o, std::nullopt, {},
             "switched-off standby of " + std::to_string(pool.stopped) + " in pool " + pool.name);
      ++spare_[p];
    }
  }

 private:
  /// The pool's cheapest offering that can be created now, or kNone; zones of one price rotate.
  [[nodiscard]] std::uint32_t cheapest(std::uint32_t p, bool must_stop) const {
    std::vector<std::uint32_t> equal;
    for (const std::uint32_t i : world_.offers) {
      const Offering& o = world_.snapshot.offerings[i];
      if (o.pool != p || !o.shut.empty() || world_.budget.creates(o, 1) == 0) continue;
      if ((must_stop && !o.can_stop) || !within_cap(o, world_.policy)) continue;
      if (!equal.empty()) {
        const Offering& first = world_.snapshot.offerings[equal.front()];
        if (first.price_per_hour != o.price_per_hour || first.type != o.type) break;
      }
      equal.push_back(i);
    }
    return rotate(equal);
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
    --stopped_[p];
    ++alive_[p];
    ++spare_[p];
    return true;
  }

  /// Of the offerings that can be created the one with the fewest instances, or kNone.
  [[nodiscard]] std::uint32_t rotate(const std::vector<std::uint32_t>& offerings) const {
    std::uint32_t best = kNone;
    for (const std::uint32_t o : offerings)
      if ((best == kNone || instances_[o] < instances_[best]) &&
          world_.budget.creates(world_.snapshot.offerings[o], 1) > 0)
        best = o;
    return best;
  }

  /// Creates one host of the pattern. The most urgent items of each lot go first.
  void buy_one(std::uint32_t o, const Packer& packer, const Pattern& pattern) {
    std::vector<Load> load;
    std::uint32_t most_urgent = kNone;
    std::uint64_t items = 0;
    for (const auto& [l, wanted] : pattern.items) {
      std::uint64_t left = wanted;
      items += wanted;
      for (const std::uint32_t d : packer.lot(l).demand) {
        Demand& demand = world_.demand[d];
        const std::uint64_t count = std::min(left, demand.uncovered);
        if (count == 0) continue;
        demand.uncovered -= count;
        world_.pay(demand, world_.snapshot.offerings[o], count);
        left -= count;
        most_urgent = std::min(most_urgent, d);
        load.push_back({demand.view->id, static_cast<std::uint32_t>(count)});
        if (left == 0) break;
      }
      HOSTLER_ASSERT(left == 0, "a pattern holds items that lack a host");
    }
    HOSTLER_ASSERT(most_urgent != kNone, "a pattern holds items");
    create(
        o, world_.demand[most_urgent].view->id, std::move(load),
        std::to_string(items) + (items == 1 ? " waiting job needs it" : " waiting jobs need it"));
  }

  void create(std::uint32_t o, std::optional<ClassId> cls, std::vector<Load> load,
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
  std::vector<std::int64_t> instances_;                ///< By offering, planned ones included.
  std::vector<std::int64_t> alive_, spare_, stopped_;  ///< By pool.
  std::vector<std::uint32_t> wakeable_;
};

}  // namespace

void grow(World& world, Plan& plan) {
  const auto classes = static_cast<std::uint32_t>(world.demand.size());
  const bool missing = std::any_of(world.demand.begin(), world.demand.end(),
                                   [](const Demand& d) { return d.uncovered > 0; });
  if (missing) {
    // All items together are packed at the lowest price. If a ceiling prevents that, each priority
    // is packed on its own, the highest first.
    const Budget budget = world.budget;
    const std::vector<Demand> demand = world.demand;
    const std::vector<PriceBound> prices = world.prices;
    Plan all = plan;
    if (!Buyer(world, all).buy(0, classes)) {
      plan = std::move(all);
    } else {
      world.budget = budget;
      world.demand = demand;
      world.prices = prices;
      Buyer buyer(world, plan);
      for (std::uint32_t from = 0, to = 0; from < classes && buyer.may_buy(); from = to) {
        while (to < classes && demand[to].view->shape.priority == demand[from].view->shape.priority)
          ++to;
        buyer.buy(from, to);
      }
    }
  }
  Buyer keeper(world, plan);
  for (const Create& create : plan.creates) keeper.count(create);
  for (std::uint32_t p = 0; p < world.policy.pools.size(); ++p)
    if (!world.pool_held[p]) keeper.keep_ready(p);
}

}  // namespace hostler::scheduler
