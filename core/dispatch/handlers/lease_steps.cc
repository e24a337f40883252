#include "core/dispatch/handlers/lease_steps.h"

#include <algorithm>
#include <utility>

namespace hostler::dispatch {

void LeaseSteps::apply(work::Lease& lease, work::LeaseOutcome outcome, Now now) {
  auto& of = outcome.work;
  const bool waits_again =
      of.event == model::Event::kQueuedAgain || of.event == model::Event::kHeld;
  // These come after a restore, when others of its gang may wait, or may have been granted.
  const bool is_alone = of.event == model::Event::kReleased || of.event == model::Event::kTakenOver;
  if (waits_again || is_alone || (of.next == work::Next::kEnd && lease.record.starts == 0))
    gangs_.note_broken(leases_.gang(lease), waits_again);
  if (of.changed) {
    if (of.event)
      recorder_.record("dispatcher", lease.id().text(), *of.event, std::move(of.reason_code),
                       std::move(of.reason), now);
    recorder_.change(model::WorkChanged{lease.record});
  }
  if (outcome.terms_changed) recorder_.change(model::LeaseChanged{lease.terms});
  if (leases_.settle(lease, of.next, now.mono)) plan_.want();
}

std::vector<work::Lease*> LeaseSteps::grant(work::Lease& lease, Now now) {
  lease.opening.is_done = true;
  const model::Gang gang = leases_.gang(lease);
  std::vector<work::Lease*> all{&lease};
  if (gang.count > 0) {
    all = leases_.members(gang);
    const auto is_ready = [](const work::Lease* one) {
      return one->opening.is_done && one->state() == model::WorkState::kStarting;
    };
    if (all.size() != gang.count || !std::ranges::all_of(all, is_ready)) return {};
    gangs_.granted();
  }
  for (work::Lease* one : all) apply(*one, work::granted(*one, now), now);
  return all;
}

}  // namespace hostler::dispatch
