#pragma once

#include <optional>

#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/leases.h"

namespace hostler::dispatch {

/// A piece of work of any kind that has not ended, as the queue and those who ask for it know it.
struct LiveWork {
  WaitingWork::Place place;
  model::WorkState state{};
  bool queued = false;
  const model::WorkRecord* record = nullptr;  ///< Null: it is as it was submitted.
};
/// Unset: it has ended, or never existed. Valid until the work changes.
[[nodiscard]] std::optional<LiveWork> find_live(const Jobs& jobs, const Leases& leases,
                                                model::WorkId id);

}  // namespace hostler::dispatch
