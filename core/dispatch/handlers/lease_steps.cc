#include "core/dispatch/handlers/lease_steps.h"

#include <utility>

namespace hostler::dispatch {

void LeaseSteps::apply(work::Lease& lease, work::LeaseOutcome outcome, Now now) {
  auto& of = outcome.work;
  const bool waits_again =
      of.event == model::Event::kQueuedAgain || of.event == model::Event::kHeld;
  if (waits_again || (of.next == work::Next::kEnd && lease.record.starts == 0))
    gangs_.note_broken(leases_.gang(lease));
  if (of.changed) {
    if (of.event)
      recorder_.record("dispatcher", lease.id().text(), *of.event, std::move(of.reason_code),
                       std::move(of.reason), now);
    recorder_.change(model::WorkChanged{lease.record});
  }
  if (outcome.terms_changed) recorder_.change(model::LeaseChanged{lease.terms});
  if (leases_.settle(lease, of.next, now.mono)) plan_.want();
}

}  // namespace hostler::dispatch
