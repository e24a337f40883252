#include "core/dispatch/handlers/output_events.h"

#include <vector>

#include "core/base/assert.h"
#include "core/base/units.h"

namespace hostler::dispatch {

void OutputEvents::on(Host& host, const model::OutputProgress& event, Now now) {
  auto& occupancy = host.instance.occupancy;
  occupancy.output_came(event, now.mono);
  hosts_.schedule(host);
  if (event.waits_for_room) disk_.output_waits(now);
}

Result<void> OutputEvents::check(const GiveUpOutput& event) const {
  const work::Job* job = jobs_.find(event.work);
  const std::string name = event.work.text();
  if (job == nullptr) return fail(Errc::kNotFound, name + " is not waiting or running");
  if (!event.admin && principals_.name(job->principal) != event.principal)
    return fail(Errc::kForbidden, name + " is not yours");
  if (job->state() != model::WorkState::kCollecting)
    return fail(Errc::kConflict, name + " is " + model::to_string(job->state()) +
                                     ": only output that is still to come after the end of a job "
                                     "can be given up; cancel ends the job");
  return {};
}

void OutputEvents::on(const GiveUpOutput& event, Now now) {
  if (const auto may = check(event); !may)
    return recorder_.reply(event.ticket, tl::unexpected(may.error()));
  const work::Job& job = *jobs_.find(event.work);
  Host* host = hosts_.change(job.record->instance);
  HOSTLER_ASSERT(host != nullptr, "work whose output is to come has its host");
  attempts_.collected(*host, job.attempt(), "its output was given up by " + event.principal, now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{event.work});
}

void OutputEvents::fire_due(Now now) {
  while (const auto id = hosts_.pop_output_due(now.mono)) {
    Host* host = hosts_.change(*id);
    if (host == nullptr) continue;
    // Until it is connected again its own deadline counts.
    if (!host->instance.link.has_agent()) host->instance.occupancy.stop_expecting_output();
    for (const auto attempt : host->instance.occupancy.overdue_output(now.mono))
      if (Host* still = hosts_.change(*id))
        attempts_.collected(*still, attempt,
                            "its host has sent nothing of its output for " +
                                format_duration(fleet::kOutputPatience),
                            now);
    if (const Host* still = hosts_.find(*id)) hosts_.schedule(*still);
  }
}

}  // namespace hostler::dispatch
