#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/policy.h"
#include "core/scheduler/plan.h"

/// What the steps of a plan share: the snapshot, made fit to compute with, and what is left of its
/// demand and its headroom as the steps use them up.
namespace hostler::scheduler {

/// Sums of what may be large: saturates.
[[nodiscard]] std::int64_t add_saturating(std::int64_t a, std::int64_t b);

/// Demand of one class as a plan goes on.
struct Demand {
  const ClassView* view = nullptr;
  std::uint32_t need = 0;       ///< Index into World::needs.
  std::uint64_t left = 0;       ///< Not placed yet.
  std::uint64_t uncovered = 0;  ///< Neither placed nor counted on what is coming.
  std::uint64_t placed = 0;

  /// Arrival of the n-th item as it was at the snapshot; beyond the heads known, an even pace.
  [[nodiscard]] std::uint64_t arrival(std::uint64_t n) const;
};

/// What decides where an item may run: alike for all classes that differ in priority only.
struct Need {
  model::Resources resources;
  const model::Constraints* constraints = nullptr;
  std::vector<std::uint8_t> meets;  ///< By offering; empty: unconstrained.
  model::Micros cheapest[2];        ///< By market: cheapest fit that its pool would pay, open or
                                    ///< shut; -1: none.
  bool has_spot = false;            ///< Spot may hold it, if not at its price of now.
  bool spot_in_vain = false;        ///< A spot request that could hold it took too long and goes:
                                    ///< now it falls back, or zones would take turns for ever.

  [[nodiscard]] bool falls_back() const { return !constraints->market && cheapest[0].value >= 0; }
};

/// Creates and destroys that may still be decided.
class Budget {
 public:
  Budget(const Snapshot& snapshot, const model::SitePolicy& policy);
  /// How many of the offering may be created now, at most `wanted`. `says_no`, if not null, gets
  /// the ceiling that bounds it.
  [[nodiscard]] std::int64_t creates(const Offering& offering, std::int64_t wanted,
                                     std::string* says_no = nullptr) const;
  void create(const Offering& offering, std::int64_t count);
  /// A pool's max is of what is on: hosts within `stopped` do not count until they are woken.
  [[nodiscard]] bool may_wake(const HostView& host) const;
  void wake(const HostView& host);
  [[nodiscard]] bool may_destroy(const HostView& host) const;
  void destroy(const HostView& host);

 private:
  template <class Do>
  void each(std::uint32_t set, std::uint32_t pool, Do act);

  const Snapshot* snapshot_;
  const model::SitePolicy* policy_;
  Headroom site_;
  std::vector<Headroom> sets_, pools_;
  std::vector<std::int64_t> pool_left_;  ///< Below PoolPolicy::max.
};

class World {
 public:
  World(const Snapshot& snapshot, const model::SitePolicy& policy);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Snapshot& snapshot;
  const model::SitePolicy& policy;
  std::vector<Demand> demand;  ///< In the queue's order.
  std::vector<Need> needs;
  std::vector<std::uint32_t> hosts;   ///< Indices, by id.
  std::vector<std::uint32_t> offers;  ///< Indices of valid offerings, cheapest first.
  std::vector<bool> pool_held;        ///< Its policy makes no sense: left as it is.
  std::vector<bool> used;             ///< By host: work was placed or counted on it.
  std::vector<bool> stale_spot;       ///< By host: a spot request unfulfilled for too long.
  Budget budget;

  [[nodiscard]] bool meets(const Need& need, const HostView& host) const;
  [[nodiscard]] bool meets(const Need& need, std::uint32_t offering) const {
    return need.meets.empty() || need.meets[offering] != 0;
  }
  /// The host is a spot request that took too long for work that may as well go to on_demand.
  [[nodiscard]] bool given_up(const Need& need, std::uint32_t host) const {
    return stale_spot[host] && need.falls_back();
  }
  /// Index into `demand`, or kNone.
  [[nodiscard]] std::uint32_t find(ClassId cls) const;
  [[nodiscard]] const model::PoolPolicy* pool(const HostView& host) const {
    return host.pool < policy.pools.size() ? &policy.pools[host.pool] : nullptr;
  }

 private:
  void group_needs();
  /// Sets Need::spot_in_vain.
  void give_up_spot();
  [[nodiscard]] bool may_hold(const HostView& host, const Need& need) const;
  /// A request that this plan does not withdraw, as an admin or work that has to be spot wants it.
  [[nodiscard]] bool stays(const HostView& host) const;
  std::vector<std::pair<ClassId, std::uint32_t>> by_class_;
};

inline constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace hostler::scheduler
