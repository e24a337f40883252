#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// The bounds of pools as numbers. Several sources may say something of a bound, or that they do
/// not know it; the steps of a plan see one number for each.
namespace hostler::scheduler {

inline constexpr std::int64_t kNoLimit = INT64_MAX / 4;

struct BoundNumber {
  std::int64_t value = 0;
  std::string mark;  ///< Whose it is, for people: " (pushed: 7 tasks wait)". Empty: the config's.

  [[nodiscard]] std::string text() const { return std::to_string(value) + mark; }
};

struct Range {
  BoundNumber min, max{.value = kNoLimit, .mark = {}};
};

/// The bounds of one pool. No minimum is above its maximum, unless `is_held`.
struct PoolNumbers {
  Range started, created;
  BoundNumber standby, stopped;
  bool has_created = false;  ///< Some source says something of created hosts.
  /// A source does not know a minimum: no host of the pool gives way, and none is exchanged.
  bool has_unknown_min = false;
  /// The pool's policy has numbers that contradict each other or are out of range: nothing is
  /// created or ended in it.
  bool is_held = false;

  /// So many switched-off hosts do not count for the maximum of started ones.
  [[nodiscard]] std::int64_t off_max() const { return has_created ? kNoLimit : stopped.value; }
};

/// The bounds from the configuration: the only reader of PoolPolicy::sizes below core/config.
[[nodiscard]] std::array<Bound, 4> bounds_of_config(const model::PoolPolicy& pool);

/// The numbers of each pool, from the bounds of the configuration and those of the `others`. The
/// largest minimum and the smallest maximum count, and a maximum wins over a minimum. An unknown
/// bound never ends or switches off a host, and known minimums still create hosts:
/// - An unknown minimum counts as the present number of hosts: alive ones for kStartedMin and
///   kStandby; for kCreatedMin and kStopped alive ones, and alive and switched-off ones.
/// - An unknown maximum counts as the present number, or as the largest known minimum if that is
///   more, and then hosts that go leave room for it.
/// `set_aside` as of Snapshot. O(pools), and O(hosts) if a bound is unknown.
[[nodiscard]] std::vector<PoolNumbers> numbers_of(const model::SitePolicy& policy,
                                                  const BoundsByPool& others,
                                                  const std::vector<HostView>& hosts,
                                                  const std::vector<std::int64_t>& set_aside);
/// The same of one pool.
[[nodiscard]] PoolNumbers numbers_of(const model::SitePolicy& policy, const BoundsByPool& others,
                                     const std::vector<HostView>& hosts,
                                     const std::vector<std::int64_t>& set_aside,
                                     std::uint32_t pool);

}  // namespace hostler::scheduler
