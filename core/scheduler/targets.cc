#include "core/scheduler/targets.h"

#include <algorithm>

namespace hostler::scheduler {

Target target_of(const PoolNumbers& pool, std::int64_t in_use) {
  Target out;
  const std::int64_t at_least = pool.started.at_least.value, standby = pool.standby.value;
  // The hosts of the standby come on top of those in use; the minimum counts both.
  const std::int64_t with_standby = in_use + standby;
  const std::int64_t wanted = std::max(at_least, with_standby);
  // The maximum may have become smaller: hosts in use stay, and others are not kept beyond it.
  out.alive = std::min(wanted, std::max(pool.started.at_most.value, in_use));
  out.empty = standby;
  out.off = pool.stopped.value;
  out.at_least = at_least;
  out.at_most = pool.started.at_most.value;
  if (standby > 0) out.reason = TargetReason::kStandby;
  if (wanted > with_standby) out.reason = TargetReason::kMinimum;
  // Of the hosts that a pool has at least, those that need not be alive are switched off.
  const std::int64_t others = pool.created.at_least.value - out.alive;
  if (others > out.off) out.off = others, out.reason_off = TargetReason::kCreated;
  out.off = std::min(out.off, std::max<std::int64_t>(0, pool.created.at_most.value - out.alive));
  return out;
}

std::string text_of(TargetReason reason, const PoolNumbers& pool, const std::string& name) {
  const std::string in = " in pool " + name;
  switch (reason) {
    case TargetReason::kMinimum:
      return "minimum of " + pool.started.at_least.text() + in;
    case TargetReason::kStandby:
      return "standby of " + pool.standby.text() + in;
    case TargetReason::kStopped:
      return "switched-off standby of " + pool.stopped.text() + in;
    case TargetReason::kCreated:
      return "minimum of " + pool.created.at_least.text() + " with switched-off hosts" + in;
    case TargetReason::kWork:
      break;
  }
  return "work" + in;
}

}  // namespace hostler::scheduler
