#pragma once

#include <array>
#include <cstdint>
#include <span>
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
  /// Some source says something of created hosts: started bounds wake and switch off, and created
  /// ones create and destroy.
  bool has_created = false;
  /// A source does not know a minimum: no host of the pool gives way, and none is exchanged.
  bool has_unknown_min = false;
  bool has_unknown_stopped = false;  ///< One of these is `stopped`.
  /// The pool's policy has numbers that contradict each other or are out of range: nothing is
  /// created or ended in it.
  bool is_held = false;
  /// The pool scales on numbers from outside: of equal hosts the least loaded goes first, and then
  /// one of the zone that has most.
  bool goes_by_load = false;
  /// The last push of the pool is too old, or there was none: no host ends
  /// for it.
  bool is_stale = false;
  /// That scheduler is silent for so long that all hosts go, whatever it said of them.
  bool is_abandoned = false;

  /// So many switched-off hosts do not count for the maximum of started ones.
  [[nodiscard]] std::int64_t off_max() const {
    return has_created || has_unknown_stopped ? kNoLimit : stopped.value;
  }
};

/// No vector, as each plan makes one for each pool.
struct ConfigBounds {
  std::array<Bound, kBoundsOfPool + 2> bounds;  ///< Two that the source `pushed` does not say.
  std::size_t count = 0;
  bool has_texts = false;  ///< Some bounds are expressions.

  [[nodiscard]] std::span<const Bound> all() const { return std::span(bounds).first(count); }
};
/// The bounds from the configuration: the only reader of PoolPolicy::sizes below core/config.
/// `others`: what the other sources say of the pool. A bound that is an expression is unknown if
/// the source `expression` says nothing of it. So are minimum and maximum of a pool that an outside
/// scheduler sizes, if the source `pushed` says nothing.
[[nodiscard]] ConfigBounds bounds_of_config(const model::PoolPolicy& pool,
                                            std::span<const Bound> others);

/// It drains, and may be switched off after that.
[[nodiscard]] bool drains_to_standby(const HostView& host);

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
