#include "core/dispatch/state/live_work.h"

namespace hostler::dispatch {

std::optional<LiveWork> find_live(const Jobs& jobs, const Leases& leases, model::WorkId id) {
  if (id.kind == model::WorkKind::kLease) {
    const work::Lease* lease = leases.find(id);
    if (lease == nullptr) return std::nullopt;
    return LiveWork{place_of(*lease), lease->state(), lease->queued, &lease->record};
  }
  const work::Job* job = jobs.find(id);
  if (job == nullptr) return std::nullopt;
  return LiveWork{place_of(*job), job->state(), job->queued, job->record.get()};
}

}  // namespace hostler::dispatch
