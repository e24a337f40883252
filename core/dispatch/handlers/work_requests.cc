#include "core/dispatch/handlers/work_requests.h"

#include <utility>

#include "core/base/units.h"
#include "core/dispatch/state/live_work.h"

namespace hostler::dispatch {

void WorkRequests::on(Submit& event, Now now) {
  if (const auto good = checks_.check(event, now.mono); !good)
    return recorder_.reply(event.ticket, tl::unexpected(good.error()));
  const auto within = quotas_.check(event, now.mono);
  if (!within) return recorder_.reply(event.ticket, tl::unexpected(within.error()));
  if (*within > 0) quotas_.count_submit(event.principal, now.mono);
  std::vector<model::WorkId> ids;
  ids.reserve(event.work.size());
  // A row and a record each: moving 100,000 of them while the list grows took longer than the rest.
  recorder_.reserve_changes(2 * event.work.size());
  for (model::WorkItem& item : event.work) {
    const auto* known = item.client_key.empty()
                            ? nullptr
                            : principals_.client_keys().find(event.principal, item.client_key);
    ids.push_back(known != nullptr ? known->work : accept(std::move(item), event.principal, now));
  }
  plan_.want();
  recorder_.reply(event.ticket, std::move(ids));
}

model::WorkId WorkRequests::accept(model::WorkItem item, const std::string& principal, Now now) {
  item.principal = principal;
  item.submitted = now.wall;
  const model::WorkId id = jobs_.add(item, now.mono);
  recorder_.change(std::move(item));
  recorder_.record("user", id.text(), model::Event::kSubmitted, "", "by " + principal, now);
  return id;
}

void WorkRequests::on(const CancelWork& event, Now now) {
  work::Job* job = jobs_.find(event.work);
  if (job == nullptr)
    return recorder_.reply(event.ticket,
                           fail(Errc::kNotFound, event.work.text() + " is not waiting or running"));
  if (!event.admin && principals_.name(job->principal) != event.principal)
    return recorder_.reply(event.ticket,
                           fail(Errc::kForbidden, event.work.text() + " is not yours"));
  if (job->state() == model::WorkState::kCollecting)
    return recorder_.reply(
        event.ticket,
        fail(Errc::kConflict, event.work.text() +
                                  " has ended, and only its output is still to come: there is "
                                  "nothing to cancel (hostler outputs give-up " +
                                  event.work.text() + " ends it without the rest of its output)"));
  if (job->queued) waiting_.note_cancelled(job->cls);
  steps_.apply(*job, work::cancel(*job, event.principal, now), now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{event.work});
}

void WorkRequests::on(const ReleaseWork& event, Now now) {
  std::vector<model::WorkId> ids = event.work ? std::vector{*event.work} : held();
  if (event.work && !is_held(*event.work))
    return recorder_.reply(event.ticket,
                           fail(Errc::kConflict, event.work->text() + " is not held"));
  recorder_.reserve_changes(2 * ids.size());
  for (const auto id : ids) {
    if (work::Lease* lease = leases_.find(id))
      lease_steps_.apply(*lease, work::release(*lease, event.actor), now);
    else if (work::Job* job = jobs_.find(id))
      steps_.apply(*job, work::release(*job, event.actor), now);
  }
  recorder_.reply(event.ticket, std::move(ids));
}

std::vector<model::WorkId> WorkRequests::held() const {
  std::vector<model::WorkId> out = jobs_.held();
  const auto leases = leases_.held();
  out.insert(out.end(), leases.begin(), leases.end());
  return out;
}

bool WorkRequests::is_held(model::WorkId id) const {
  const auto work = find_live(jobs_, leases_, id);
  return work && work->state == model::WorkState::kHeld;
}

void WorkRequests::on(const CancelHeld& event, Now now) {
  std::vector<model::WorkId> ids = held();
  recorder_.reserve_changes(2 * ids.size());
  for (const auto id : ids) {
    if (work::Lease* lease = leases_.find(id))
      lease_steps_.apply(*lease, work::cancel(*lease, event.actor, false, now), now);
    else if (work::Job* job = jobs_.find(id))
      steps_.apply(*job, work::cancel(*job, event.actor, now), now);
  }
  recorder_.reply(event.ticket, std::move(ids));
}

void WorkRequests::on(const OutputsRemoved& event, Now now) {
  recorder_.record("user", event.work.text(), model::Event::kOutputsRemoved, "",
                   exact_size(static_cast<std::int64_t>(event.bytes)) + " by " + event.actor, now);
}

void WorkRequests::on(const WorkForgotten& event) { principals_.client_keys().forget(event.work); }

}  // namespace hostler::dispatch
