#include "core/scheduler/targets.h"

#include <algorithm>

namespace hostler::scheduler {

Target target_of(const model::PoolPolicy& pool, std::int64_t in_use) {
  Target out;
  // The hosts of the standby come on top of those in use; the minimum counts both.
  const std::int64_t with_standby = in_use + pool.sizes.standby;
  const std::int64_t wanted = std::max<std::int64_t>(pool.sizes.min, with_standby);
  // The maximum may have become smaller: hosts in use stay, and others are not kept beyond it.
  out.alive = std::min(wanted, std::max<std::int64_t>(pool.sizes.max, in_use));
  out.empty = pool.sizes.standby;
  out.off = pool.sizes.stopped;
  out.at_least = pool.sizes.min;
  out.at_most = pool.sizes.max;
  if (pool.sizes.standby > 0) out.reason = TargetReason::kStandby;
  if (wanted > with_standby) out.reason = TargetReason::kMinimum;
  return out;
}

std::string text_of(TargetReason reason, const model::PoolPolicy& pool) {
  const std::string in = " in pool " + pool.name;
  switch (reason) {
    case TargetReason::kMinimum:
      return "minimum of " + std::to_string(pool.sizes.min) + in;
    case TargetReason::kStandby:
      return "standby of " + std::to_string(pool.sizes.standby) + in;
    case TargetReason::kStopped:
      return "switched-off standby of " + std::to_string(pool.sizes.stopped) + in;
    case TargetReason::kWork:
      break;
  }
  return "work" + in;
}

}  // namespace hostler::scheduler
