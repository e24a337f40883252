#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Jobs: submitted, placed, ended.
namespace hostler::dispatch {
namespace {

/// "there is no instance type 'x'; ...", or empty.
std::string unknown_type(const model::Constraints& constraints, const model::SitePolicy& policy) {
  for (const auto& name : constraints.types) {
    if (std::ranges::find(policy.types, name, &model::InstanceType::name) != policy.types.end())
      continue;
    std::string all;
    for (const auto& type : policy.types) all += (all.empty() ? "" : ", ") + type.name;
    return "there is no instance type '" + name + "'; this site has " + all;
  }
  return {};
}

}  // namespace

void Dispatcher::on(Submit& event, Now now) {
  if (const auto good = check(event); !good)
    return reply(event.ticket, tl::unexpected(good.error()));
  std::vector<model::WorkId> ids;
  ids.reserve(event.work.size());
  // A row and a record each; moving 100,000 of them as it grows took longer than all the rest. At
  // least double, or many small submits would each move all of it.
  if (const auto rows = out_.changes.size() + 2 * event.work.size(); rows > out_.changes.capacity())
    out_.changes.reserve(std::max(rows, 2 * out_.changes.capacity()));
  for (model::WorkItem& one : event.work) {
    const auto* known =
        one.client_key.empty() ? nullptr : client_keys_.find(event.principal, one.client_key);
    ids.push_back(known != nullptr ? known->job : take(std::move(one), event.principal, now));
  }
  plan_soon();
  reply(event.ticket, std::move(ids));
}

/// All that can refuse it, so that a submit is all or nothing.
Result<void> Dispatcher::check(const Submit& event) const {
  std::set<model::WorkShape> fits;
  std::map<std::string_view, std::size_t> keys;
  for (std::size_t i = 0; i < event.work.size(); ++i) {
    const model::WorkItem& one = event.work[i];
    const std::string where = event.work.size() > 1 ? "jobs[" + std::to_string(i) + "]: " : "";
    if (!fits.contains(one.shape)) {
      if (const std::string stranger = unknown_type(one.shape.constraints, policy_);
          !stranger.empty())
        return fail(Errc::kInvalidArgument, where + stranger);
      std::string nearest;
      if (!scheduler::cheapest_fit(one.shape, offerings_, policy_, &nearest))
        return fail(Errc::kInvalidArgument,
                    where + "no instance type of this site can ever run it" +
                        (nearest.empty() ? std::string() : "; nearest: " + nearest));
      fits.insert(one.shape);
    }
    if (one.client_key.empty()) continue;
    const auto conflict = [&](const std::string& what) {
      return fail(Errc::kConflict, where + "client_key '" + one.client_key + "' " + what);
    };
    if (const auto [same, fresh] = keys.try_emplace(one.client_key, i);
        !fresh && event.work[same->second].client_digest != one.client_digest)
      return conflict("is used twice in this submit");
    const auto* known = client_keys_.find(event.principal, one.client_key);
    if (known != nullptr && known->digest != one.client_digest)
      return conflict("already names " + known->job.text() + ", which has another body");
  }
  return {};
}

model::WorkId Dispatcher::take(model::WorkItem item, const std::string& by, Now now) {
  const model::WorkId id{++last_work_};
  work::Job& made = jobs_[id];
  made.id = id;
  made.arrival = ++last_arrival_;
  made.cls = queue_.intern(item.shape);
  made.principal = principal(by);
  made.attempts_max = item.shape.attempts_max;
  made.restartable = item.shape.restartable;
  queue_.push(made.cls, {made.arrival, id, now.mono});
  ++job_counts_[0];
  if (!item.client_key.empty()) client_keys_.add(by, item.client_key, {item.client_digest, id});
  item.record.id = id;
  item.arrival = made.arrival;
  item.principal = by;
  item.submitted = now.wall;
  out_.changes.emplace_back(std::move(item));
  record("user", id.text(), model::Event::kSubmitted, "", "by " + by, now);
  return id;
}

void Dispatcher::on(CancelWork& event, Now now) {
  work::Job* found = job(event.work);
  if (found == nullptr)
    return reply(event.ticket,
                 fail(Errc::kNotFound, event.work.text() + " is not waiting or running"));
  if (!event.admin && principals_[found->principal] != event.principal)
    return reply(event.ticket, fail(Errc::kForbidden, event.work.text() + " is not yours"));
  settle(*found, work::cancel(*found, event.principal, now), now);
  reply(event.ticket, std::vector<model::WorkId>{event.work});
}

void Dispatcher::on(WorkForgotten& event, Now now) {
  (void)now;
  client_keys_.forget(event.work);
}

/// Journals what a step changed and does what is next. May end the job: callers do not touch it
/// afterwards.
void Dispatcher::settle(work::Job& job, work::Outcome outcome, Now now) {
  const model::WorkId id = job.id;
  if (job.counted != job.state()) {
    --job_counts_[static_cast<std::size_t>(job.counted)];
    job.counted = job.state();
    if (!model::is_terminal(job.counted)) ++job_counts_[static_cast<std::size_t>(job.counted)];
  }
  if (outcome.changed) {
    if (outcome.event)
      record("dispatcher", id.text(), *outcome.event, outcome.reason_code, outcome.reason, now);
    out_.changes.emplace_back(model::WorkChanged{*job.record});
  }
  switch (outcome.next) {
    case work::Next::kQueueAgain:
      queue_.push(job.cls, {job.arrival, id, now.mono});
      plan_soon();
      break;
    case work::Next::kKill:
      out_.effects.emplace_back(
          model::HostCommand(model::KillAttempt{job.record->instance, job.attempt()}));
      break;
    case work::Next::kEnd:
      // A cancelled one may be waiting, and a host may be coming for it.
      if (queue_.erase(job.cls, job.arrival)) plan_soon();
      jobs_.erase(id);
      break;
    case work::Next::kNothing:
    case work::Next::kSend:
    case work::Next::kCollect:
      break;
  }
}

work::Job* Dispatcher::job(model::WorkId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::uint32_t Dispatcher::principal(const std::string& name) {
  const auto found = std::ranges::find(principals_, name);
  if (found != principals_.end()) return static_cast<std::uint32_t>(found - principals_.begin());
  principals_.push_back(name);
  return static_cast<std::uint32_t>(principals_.size() - 1);
}

}  // namespace hostler::dispatch
