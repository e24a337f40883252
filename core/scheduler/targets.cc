#include "core/scheduler/targets.h"

#include <algorithm>

namespace hostler::scheduler {

Target target_of(const PoolNumbers& pool, std::int64_t in_use) {
  Target out;
  const std::int64_t min = pool.started.min.value, standby = pool.standby.value;
  // The hosts of the standby come on top of those in use; the minimum counts both.
  const std::int64_t with_standby = in_use + standby;
  const std::int64_t wanted = std::max(min, with_standby);
  // The maximum may have become smaller: hosts in use stay, and others are not kept beyond it.
  out.alive = std::min(wanted, std::max(pool.started.max.value, in_use));
  out.empty = standby;
  out.off = pool.stopped.value;
  out.min = min;
  out.max = pool.started.max.value;
  if (standby > 0) out.reason = TargetReason::kStandby;
  if (wanted > with_standby) out.reason = TargetReason::kMinimum;
  // Hosts of the minimum that need not be on are switched off.
  const std::int64_t others = pool.created.min.value - out.alive;
  if (others > out.off) out.off = others, out.reason_off = TargetReason::kCreated;
  out.off = std::min(out.off, std::max<std::int64_t>(0, pool.created.max.value - out.alive));
  return out;
}

std::string text_of(TargetReason reason, const PoolNumbers& pool, const std::string& name) {
  const std::string in = " in pool " + name;
  switch (reason) {
    case TargetReason::kMinimum:
      return "minimum of " + pool.started.min.text() + in;
    case TargetReason::kStandby:
      return "standby of " + pool.standby.text() + in;
    case TargetReason::kStopped:
      return "switched-off standby of " + pool.stopped.text() + in;
    case TargetReason::kCreated:
      return "minimum of " + pool.created.min.text() + " with switched-off hosts" + in;
    case TargetReason::kWork:
      break;
  }
  return "work" + in;
}

}  // namespace hostler::scheduler
