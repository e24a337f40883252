#include "core/dispatch/handlers/left_alone.h"

#include <utility>

namespace hostler::dispatch {

bool LeftAlone::was_empty(const Host& host) const {
  if (!host.instance.occupancy.is_lent()) return false;
  const work::Lease* lease = leases_.find(host.instance.occupancy.claims().front().work);
  return lease != nullptr && !lease->record.restored;
}

bool LeftAlone::take(Host& host, const model::AttemptId& attempt, model::AttemptPhase phase,
                     Now now) {
  if (was_empty(host)) return false;
  const bool is_set_aside = set_aside_.contains(attempt.work);
  const bool is_unknown = takeover_.is_unknown(host, attempt.work);
  if (!is_set_aside && !is_unknown && !takeover_.is_disputed(host, attempt, phase)) return false;
  host.instance.occupancy.leave_alone(attempt, phase);
  // The one is told at the start, the other is taken over once all hosts have reported.
  if (is_set_aside || takeover_.awaits_reports(attempt, phase)) return true;
  if (std::exchange(host.unknown_work.told, true)) return true;
  recorder_.record("host", host.id().text(), model::Event::kUnknownNumbers, "",
                   attempt.text() + (is_unknown ? " is there, and nothing is known of it here"
                                                : " is there, and another host has its job"),
                   now);
  return true;
}

}  // namespace hostler::dispatch
