#include "core/dispatch/handlers/job_steps.h"

#include <utility>

namespace hostler::dispatch {

void JobSteps::apply(work::Job& job, work::Outcome outcome, Now now) {
  if (outcome.changed) {
    if (outcome.event)
      recorder_.record("dispatcher", job.id.text(), *outcome.event, std::move(outcome.reason_code),
                       std::move(outcome.reason), now);
    recorder_.change(model::WorkChanged{*job.record});
  }
  if (outcome.next == work::Next::kKill)
    recorder_.command(model::KillAttempt{job.record->instance, job.attempt()});
  if (jobs_.settle(job, outcome.next, now.mono)) plan_.want();
}

}  // namespace hostler::dispatch
