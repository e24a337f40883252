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

struct Number {
  std::int64_t value = 0;
  std::string mark;  ///< Whose it is, for people: " (pushed: 7 tasks wait)". Empty: the config's.

  [[nodiscard]] std::string text() const { return std::to_string(value) + mark; }
};

struct Range {
  Number at_least, at_most{.value = kNoLimit, .mark = {}};
};

/// The bounds of one pool. No at least is above its at most, but see `is_held`.
struct PoolNumbers {
  Range started, created;
  Number standby, stopped;
  bool has_created = false;  ///< Some source says something of created hosts.
  /// A source does not know an at least: hosts of the pool give way to nothing, and none is
  /// exchanged.
  bool is_unsure = false;
  /// The configuration of the pool contradicts itself: nothing is created or ended in it.
  bool is_held = false;

  /// So many switched-off hosts do not count for the maximum of started ones.
  [[nodiscard]] std::int64_t off_max() const { return has_created ? kNoLimit : stopped.value; }
};

/// What the configuration says: the only reader of PoolPolicy::sizes below core/config.
[[nodiscard]] std::array<Bound, 4> bounds_of_config(const model::PoolPolicy& pool);

/// The numbers of each pool, of what the configuration says and what other sources say. The largest
/// at least counts, and the smallest at most; at most wins. A bound that is unknown never has a
/// host ended or switched off, and known at leasts still create:
/// - An unknown at least counts as what is there now: alive hosts for kStartedMin and kStandby,
///   alive and switched-off ones for kCreatedMin, both for kStopped.
/// - An unknown at most counts as what is there now, or as the known at leasts if they are more.
/// `set_aside` as of Snapshot. O(pools), and O(hosts) if a bound is unknown.
[[nodiscard]] std::vector<PoolNumbers> numbers_of(const model::SitePolicy& policy,
                                                  const SaidBounds& said,
                                                  const std::vector<HostView>& hosts,
                                                  const std::vector<std::int64_t>& set_aside);
/// The same of one pool.
[[nodiscard]] PoolNumbers numbers_of(const model::SitePolicy& policy, const SaidBounds& said,
                                     const std::vector<HostView>& hosts,
                                     const std::vector<std::int64_t>& set_aside,
                                     std::uint32_t pool);

}  // namespace hostler::scheduler
