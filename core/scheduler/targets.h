#pragma once

#include <cstdint>
#include <string>

#include "core/scheduler/bounds.h"

/// What each pool should hold, and why. The steps of a plan count the hosts that there are, each at
/// its time, and serve the targets: grow() creates and wakes what is missing, shrink() ends and
/// switches off what is too many. So no step undoes what another has done.
namespace hostler::scheduler {

/// The hosts of a pool at one step of a plan.
struct PoolHosts {
  /// They come or are ready, and will stay: they do not drain and their cloud does not take them.
  std::int64_t alive = 0;
  std::int64_t empty = 0;  ///< Of these, without work, and no admin holds them. Some still boot.
  std::int64_t off = 0;    ///< Switched off and kept.
  /// They will be, if they can and bounds keep them then: see World::turns_off().
  std::int64_t turning_off = 0;

  [[nodiscard]] std::int64_t in_use() const { return alive - empty; }
  /// As bounds of created hosts count them.
  [[nodiscard]] std::int64_t created() const { return alive + off + turning_off; }
};

/// Why a pool should have another host.
enum class TargetReason : std::uint8_t { kWork, kMinimum, kStandby, kStopped, kCreated };

/// How many hosts a pool should have.
struct Target {
  std::int64_t alive = 0;  ///< For its work, its minimum and its standby together.
  std::int64_t empty = 0;  ///< Of these, ready and without work, at least.
  std::int64_t off = 0;    ///< Switched off and kept, besides.
  std::int64_t min = 0;    ///< The minimum of the pool: alive hosts, with or without work.
  std::int64_t max = 0;    ///< The maximum of the pool: creates and wakes stop here.
  TargetReason reason = TargetReason::kWork;         ///< What `alive` comes from.
  TargetReason reason_off = TargetReason::kStopped;  ///< What `off` comes from.

  /// The number of alive hosts that are missing; negative: the number that is too many.
  [[nodiscard]] std::int64_t missing(const PoolHosts& hosts) const { return alive - hosts.alive; }
  /// The number of switched-off hosts that are missing. A host that is alive beyond the target is
  /// counted as switched off, because it will be after its idle timeout.
  [[nodiscard]] std::int64_t missing_off(const PoolHosts& hosts) const {
    return off - hosts.off - hosts.turning_off + missing(hosts);
  }
  /// Why the next host that is missing should be there.
  [[nodiscard]] TargetReason why_missing(const PoolHosts& hosts) const {
    return hosts.alive < min ? TargetReason::kMinimum : reason;
  }
};

/// The target of a pool. `in_use`: its hosts that have work, will get work or are held by an admin.
/// A pool that is held has no target, see PoolNumbers::is_held.
[[nodiscard]] Target target_of(const PoolNumbers& pool, std::int64_t in_use);
/// For people: "standby of 2 in pool default".
[[nodiscard]] std::string text_of(TargetReason reason, const PoolNumbers& pool,
                                  const std::string& name);

}  // namespace hostler::scheduler
