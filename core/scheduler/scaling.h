#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/scaling.h"

/// How a bound follows what its expression recommends: the rules of Kubernetes' HPA
/// (kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale), for each bound by itself.
namespace hostler::scheduler {

/// The memory of one bound of one pool. A value; its owner keeps one for each bound.
class BoundScaling {
 public:
  struct Decision {
    std::int64_t number = 0;
    std::vector<std::string> changes;  ///< Each change by a rule, for people, in their order.
    friend bool operator==(const Decision&, const Decision&) = default;
  };

  /// The number that a recommendation leads to now: tolerance, then stabilisation, then policies.
  /// `present`: what the bound is taken to be if nothing was decided yet; it counts as recommended
  /// at `now`, so that nothing shrinks before the window of `down` is over. So does the last
  /// decision after a stall that was longer than the window and 30 s.
  /// Times must not go back. O(changes within the times of the rules).
  Decision decide(std::int64_t recommended, std::int64_t present,
                  const model::ScalingPolicy& policy, Mono now);
  /// The recommendation is unknown now: what was decided last counts as recommended.
  void hold(const model::ScalingPolicy& policy, Mono now);
  /// The bound is known again. Where hold() has held less than `least`, it begins there, as it
  /// does after a start.
  void end_hold(std::int64_t least, const model::ScalingPolicy& policy, Mono now);
  /// The last decision; unset: none yet.
  [[nodiscard]] const std::optional<std::int64_t>& current() const { return current_; }
  /// When the last decision could change with the same recommendation: a window or the time of a
  /// policy ends then. Unset: it would not.
  [[nodiscard]] std::optional<Mono> due(const model::ScalingPolicy& policy) const;

 private:
  struct Entry {
    Mono at;
    std::int64_t number = 0;
  };
  using Entries = std::deque<Entry>;
  struct Limit;

  void begin_at(std::int64_t number, const model::ScalingPolicy& policy, Mono now);
  void remember(std::int64_t recommended, const model::ScalingPolicy& policy, Mono now);
  void settle(std::int64_t number, const model::ScalingPolicy& policy, Mono now);
  [[nodiscard]] std::int64_t stabilised(std::int64_t recommended,
                                        const model::ScalingPolicy& policy, Mono now,
                                        Decision& out) const;
  [[nodiscard]] std::int64_t within_policies(std::int64_t wanted,
                                             const model::ScalingPolicy& policy, Mono now,
                                             Decision& out) const;
  [[nodiscard]] std::int64_t number_at(Mono when) const;

  /// Recommendations within the window of `down`, and of `up`: those that no later one reaches, or
  /// undercuts. So the first one is the largest, or the smallest.
  Entries largest_, smallest_;
  Entries decided_;  ///< Each number, from when it held; back to the longest time of a policy.
  std::optional<std::int64_t> current_;
  std::int64_t recommended_ = 0;  ///< The last one, after the tolerance.
  Mono at_;                       ///< Its time.
  bool is_on_hold_ = false;       ///< hold() came last.
};

}  // namespace hostler::scheduler
