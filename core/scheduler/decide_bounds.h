#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/bound.h"
#include "core/scheduler/scaling.h"

/// From what the expressions of a pool gave to the bounds of the source `expression`. The daemon,
/// the simulation and `hostler eval` call the same function.
namespace hostler::scheduler {

/// The result of one bound's expression.
struct Computed {
  BoundOf of{};                 ///< One of the four of started and created hosts.
  std::optional<double> value;  ///< May be NaN or infinite. Unset: it is unknown.
  std::string reason;  ///< For people: why it is unknown, or what it comes from; may be empty.
};

/// The hosts of a pool as its bounds count them: without those that go.
struct HostCounts {
  std::int64_t started = 0;
  std::int64_t created = 0;  ///< `started`, and those that are switched off and kept.
};

/// The number that no expression passes.
struct HostCeiling {
  std::int64_t hosts = 0;
  std::string whose;  ///< "ceilings.instances_max of pool web"
};
/// The lowest `instances_max` of the pool, of its sets together (if each has one) and of the site;
/// nullopt: none has one.
[[nodiscard]] std::optional<HostCeiling> host_ceiling(const model::SitePolicy& policy,
                                                      std::uint32_t pool);

/// One bound on its way through the rules, for people.
struct BoundNote {
  BoundOf of{};
  std::optional<double> computed;
  std::optional<std::int64_t> wanted;  ///< `computed`, rounded and within the ceiling.
  std::optional<std::int64_t> number;  ///< After all rules; unset: unknown, see `unknown`.
  /// `computed` is above the ceiling: the first of `changes` says so.
  bool is_at_ceiling = false;
  /// Each change by a rule, in their order: "ceiling: 900 is above 100, ...",
  /// "down window of 5m: 12 was wanted 2m ago".
  std::vector<std::string> changes;
  std::string unknown;
};

struct DecidedBounds {
  std::vector<Bound> bounds;     ///< One for each Computed, in their order.
  std::vector<BoundNote> notes;  ///< The same.
  /// An expression wants more than the ceiling: there is to be an alarm.
  bool is_at_ceiling = false;
  /// When equal values could give other bounds: a window or a period ends. Unset: they could not.
  std::optional<Mono> due;
};

/// The memory of a pool, by BoundOf (the first four). Its owner keeps it while the pool exists.
using PoolScaling = std::array<BoundScaling, 4>;

/// The bounds of one pool now. Rounds half away from zero; negative is 0. NaN and infinite are
/// unknown; a number above the ceiling is the ceiling. A minimum above its maximum, both computed
/// here, makes both unknown. Then the rules of `policy`, and the ceiling. An unknown bound holds
/// what was decided last; a maximum that is known again begins at `present` if that is more.
/// `ceiling` unset: a billion. O(numbers remembered).
[[nodiscard]] DecidedBounds decide_bounds(const std::vector<Computed>& computed,
                                          PoolScaling& scaling, const model::ScalingPolicy& policy,
                                          const HostCounts& present,
                                          const std::optional<HostCeiling>& ceiling, Mono now);

/// A number of hosts: rounded half away from zero, 0 if negative, saturated at a billion.
/// kInvalidArgument: it is NaN or infinite.
[[nodiscard]] Result<std::int64_t> to_host_count(double value);

}  // namespace hostler::scheduler
