#include "core/dispatch/state/deadlines.h"

#include "core/base/assert.h"

namespace hostler::dispatch {

void Deadlines::set(model::InstanceId id, Mono deadline) {
  if (const auto known = by_id_.find(id); known != by_id_.end()) {
    if (known->second == deadline) return;
    by_time_.erase({known->second, id});
    by_id_.erase(known);
  }
  if (deadline == fleet::kNever) return;
  by_time_.emplace(deadline, id);
  by_id_.emplace(id, deadline);
}

std::optional<model::InstanceId> Deadlines::pop_due(Mono now) {
  if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
  const model::InstanceId id = by_time_.begin()->second;
  by_time_.erase(by_time_.begin());
  const auto known = by_id_.erase(id);
  HOSTLER_ASSERT(known == 1, "each deadline is in both indexes");
  return id;
}

}  // namespace hostler::dispatch
