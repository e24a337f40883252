#include "core/dispatch/handlers/work_requests.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/units.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

void WorkRequests::on(Submit& event, Now now) {
  for (const Set& set : sets_.all())  // The number of a job may have been given out already.
    if (set.untouched)
      return recorder_.reply(
          event.ticket, fail(Errc::kUnavailable,
                             "the state folder does not know these rows, and set " + set.name +
                                 " was not listed yet: its instances show whether the rows are "
                                 "the newest ones"));
  if (const auto good = check(event); !good)
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
                            : jobs_.client_keys().find(event.principal, item.client_key);
    ids.push_back(known != nullptr ? known->work : accept(std::move(item), event.principal, now));
  }
  plan_.want();
  recorder_.reply(event.ticket, std::move(ids));
}

Result<void> WorkRequests::check(const Submit& event) const {
  std::set<model::WorkShape> fits;
  std::map<std::string_view, std::size_t> keys;
  for (std::size_t i = 0; i < event.work.size(); ++i) {
    const model::WorkItem& item = event.work[i];
    const std::string where = event.work.size() > 1 ? "jobs[" + std::to_string(i) + "]: " : "";
    if (!fits.contains(item.shape)) {
      if (const auto good = check_shape(item.shape); !good)
        return fail(good.error().code, where + good.error().message);
      fits.insert(item.shape);
    }
    if (item.client_key.empty()) continue;
    const auto conflict = [&](const std::string& problem) {
      return fail(Errc::kConflict, where + "client_key '" + item.client_key + "' " + problem);
    };
    if (const auto [same, fresh] = keys.try_emplace(item.client_key, i);
        !fresh && event.work[same->second].client_digest != item.client_digest)
      return conflict("is used twice in this submit");
    const auto* known = jobs_.client_keys().find(event.principal, item.client_key);
    if (known != nullptr && known->digest != item.client_digest)
      return conflict("already names " + known->work.text() + ", which has another body");
  }
  return {};
}

Result<void> WorkRequests::check_shape(const model::WorkShape& shape) const {
  // Nobody knows yet which types there are: it waits for them.
  for (const auto& pool : policy_.pools)
    if (offered_.is_unknown(pool)) return {};
  for (const auto& name : shape.constraints.types) {
    if (menu_.type_index(name)) continue;
    std::string all;
    for (const auto& type : policy_.types) all += (all.empty() ? "" : ", ") + type.name;
    return fail(Errc::kInvalidArgument,
                "there is no instance type '" + name + "'; this site has " + all);
  }
  std::string nearest;
  if (scheduler::cheapest_fit(shape, menu_.offerings(), policy_, &nearest)) return {};
  return fail(Errc::kInvalidArgument, "no instance type of this site can ever run it" +
                                          (nearest.empty() ? "" : "; nearest: " + nearest));
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
  if (!event.admin && jobs_.principal_of(*job) != event.principal)
    return recorder_.reply(event.ticket,
                           fail(Errc::kForbidden, event.work.text() + " is not yours"));
  steps_.apply(*job, work::cancel(*job, event.principal, now), now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{event.work});
}

void WorkRequests::on(const ReleaseWork& event, Now now) {
  std::vector<model::WorkId> ids = event.work ? std::vector{*event.work} : jobs_.held();
  if (event.work) {
    const work::Job* job = jobs_.find(*event.work);
    if (job == nullptr || job->state() != model::WorkState::kHeld)
      return recorder_.reply(event.ticket,
                             fail(Errc::kConflict, event.work->text() + " is not held"));
  }
  recorder_.reserve_changes(2 * ids.size());
  for (const auto id : ids) {
    work::Job& job = *jobs_.find(id);
    steps_.apply(job, work::release(job, event.actor), now);
  }
  recorder_.reply(event.ticket, std::move(ids));
}

void WorkRequests::on(const CancelHeld& event, Now now) {
  std::vector<model::WorkId> ids = jobs_.held();
  recorder_.reserve_changes(2 * ids.size());
  for (const auto id : ids) {
    work::Job& job = *jobs_.find(id);
    steps_.apply(job, work::cancel(job, event.actor, now), now);
  }
  recorder_.reply(event.ticket, std::move(ids));
}

void WorkRequests::on(const OutputsRemoved& event, Now now) {
  recorder_.record("user", event.work.text(), model::Event::kOutputsRemoved, "",
                   exact_size(static_cast<std::int64_t>(event.bytes)) + " by " + event.actor, now);
}

void WorkRequests::on(const WorkForgotten& event) { jobs_.client_keys().forget(event.work); }

}  // namespace hostler::dispatch
