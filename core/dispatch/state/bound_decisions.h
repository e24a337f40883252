#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/dispatch/state/expressions.h"
#include "core/fleet/deadline.h"
#include "core/scheduler/decide_bounds.h"

namespace hostler::dispatch {

/// As shown: "min", "max", "created_min", "created_max".
[[nodiscard]] inline const char* bound_name(scheduler::BoundOf of) {
  constexpr std::array kNames{"min", "max", "created_min", "created_max", "standby", "stopped"};
  return kNames[static_cast<std::size_t>(of)];
}

/// What the expressions of the pools have led to, and when they are evaluated again. A restart
/// forgets it: then the present number of hosts counts as recommended (core/scheduler/scaling.h).
class BoundDecisions {
 public:
  struct Pool {
    scheduler::PoolScaling scaling;
    scheduler::DecidedBounds last;  ///< Its bounds are those that are texts.
    /// What the ledger has said last of each bound: its number, or that it is unknown. Unset:
    /// nothing yet.
    std::array<std::optional<std::optional<std::int64_t>>, 4> told;
    std::array<Mono, 4> told_at{};  ///< When it said so.
    bool is_ceiling_told = false;
    std::optional<Mono> due;           ///< A window or a period ends then: it is evaluated again.
    std::array<std::string, 4> texts;  ///< `scaling` is of these; empty: of none.

    /// These are the texts now. Decisions by another text are forgotten, and all of a bound without
    /// one: its next text begins with the hosts that there are then.
    void keep(const std::vector<PoolExpressions::OfBound>& bounds);
  };

  void resize(std::size_t pools) { pools_.resize(pools); }
  [[nodiscard]] Pool& at(std::uint32_t pool) { return pools_[pool]; }
  /// Empty before the first evaluation.
  [[nodiscard]] const Pool& at(std::uint32_t pool) const {
    static const Pool kNone;
    return pool < pools_.size() ? pools_[pool] : kNone;
  }

  /// The pool is evaluated at the next tick, once for all readings until then.
  void want(std::uint32_t pool) { wanted_.insert(pool); }
  /// Some metric was read: also drains look at that.
  void note_reading() { is_any_read_ = true; }
  /// Since the last time.
  [[nodiscard]] bool take_reading() { return std::exchange(is_any_read_, false); }
  /// Those that are wanted, and those that are due. O(pools).
  [[nodiscard]] std::vector<std::uint32_t> take_due(Mono now);
  /// All are evaluated again then, at the latest.
  void look_again_at(Mono when) { look_at_ = when; }
  [[nodiscard]] Mono look_at() const { return look_at_; }
  void zones_were_read() { knows_zones_ = true; }
  /// Time zones were read since the start: one that is not known now is not known at all.
  [[nodiscard]] bool knows_zones() const { return knows_zones_; }
  /// A metric of our own is counted again then.
  void count_again_at(const std::string& metric, Mono when) { counts_[metric] = when; }
  void forget_counts() { counts_.clear(); }
  [[nodiscard]] const std::map<std::string, Mono>& counts() const { return counts_; }
  /// When something of this is due. O(pools).
  [[nodiscard]] Mono next() const {
    if (is_any_read_ || !wanted_.empty()) return Mono{};
    Mono out = look_at_;
    for (const auto& pool : pools_)
      if (pool.due) out = std::min(out, *pool.due);
    for (const auto& [metric, at] : counts_) out = std::min(out, at);
    return out;
  }

 private:
  std::vector<Pool> pools_;
  std::set<std::uint32_t> wanted_;
  bool is_any_read_ = false;
  Mono look_at_ = fleet::kNever;
  bool knows_zones_ = false;
  std::map<std::string, Mono> counts_;
};

}  // namespace hostler::dispatch
