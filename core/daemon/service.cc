#include "core/daemon/service.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/hash.h"
#include "core/daemon/clock.h"

namespace hostler::daemon {
namespace {

/// Requests are refused, not queued, once this many commits wait for the disk.
constexpr std::size_t kCommitsWaitingMax = 1000;

/// For a look at the loop's state by a thread that waits for it.
constexpr std::chrono::seconds kLookTimeout{5};

Tickets::Answer without_jobs(api::Answer<void> answer) {
  return [answer = std::move(answer)](Result<std::vector<model::WorkId>> result) {
    if (!result) return answer(tl::unexpected(std::move(result.error())));
    answer({});
  };
}

}  // namespace

Result<void> DaemonService::commits() const {
  const auto health = parts_.store->health();
  if (health.ok && health.queued <= kCommitsWaitingMax) return {};
  return fail(Errc::kUnavailable, "nothing can be accepted now: the store does not commit" +
                                      (health.error.empty() ? std::string() : ": " + health.error));
}

template <class Event>
void DaemonService::ask(Event event, Tickets::Answer answer) {
  if (const auto able = commits(); !able) return answer(tl::unexpected(able.error()));
  const auto ticket = parts_.tickets->add(std::move(answer));
  if (!ticket) return;
  event.ticket = *ticket;
  parts_.loop->post(std::move(event));
}

void DaemonService::submit(const api::Principal& who, std::vector<model::WorkItem> jobs,
                           api::Answer<std::vector<model::WorkId>> answer) {
  ask(dispatch::Submit{0, who.name, std::move(jobs)}, std::move(answer));
}

void DaemonService::cancel(const api::Principal& who, model::WorkId job, api::Answer<void> answer) {
  const auto known = parts_.store->reads().job(job);
  if (!known) return answer(tl::unexpected(known.error()));
  if (who.role != api::Role::kAdmin && known->principal != who.name)
    return answer(fail(Errc::kForbidden, job.text() + " is not yours"));
  if (model::is_terminal(known->record.state))
    return answer(
        fail(Errc::kConflict, job.text() + " has ended: " + model::to_string(known->record.state)));
  ask(dispatch::CancelWork{0, who.name, who.role == api::Role::kAdmin, job},
      without_jobs(std::move(answer)));
}

Result<model::WorkItem> DaemonService::readable_job(const api::Principal& who, model::WorkId job,
                                                    bool with_body) const {
  auto found = HOSTLER_TRY(parts_.store->reads().job(job, with_body));
  if (who.role == api::Role::kSubmit && found.principal != who.name)
    return fail(Errc::kForbidden, job.text() + " is not yours");
  return found;
}

void DaemonService::job(const api::Principal& who, model::WorkId id, bool with_body,
                        api::Answer<api::JobDetail> answer) {
  auto found = readable_job(who, id, with_body);
  if (!found) return answer(tl::unexpected(found.error()));
  api::JobDetail detail{std::move(*found), std::nullopt};
  if (detail.job.record.state != model::WorkState::kQueued) return answer(std::move(detail));
  parts_.loop->look([id, detail = std::move(detail), answer = std::move(answer)](
                        const dispatch::Queries& state, Now) mutable {
    detail.waiting = state.waiting(id);
    answer(std::move(detail));
  });
}

void DaemonService::jobs(const api::Principal& who, const api::JobFilter& filter,
                         api::Answer<api::JobPage> answer) {
  store::JobFilter wanted;
  wanted.states = filter.states;
  wanted.principal = who.role == api::Role::kSubmit ? who.name : filter.principal;
  wanted.name = filter.name;
  wanted.after = filter.before;
  wanted.newest_first = true;
  wanted.limit = filter.limit;
  auto found = parts_.store->reads().jobs(wanted);
  if (!found) return answer(tl::unexpected(found.error()));
  api::JobPage page;
  if (found->more && !found->items.empty()) page.next = found->items.back().record.id;
  for (auto& row : found->items) page.jobs.push_back({std::move(row), std::nullopt});
  parts_.loop->look([page = std::move(page), answer = std::move(answer)](
                        const dispatch::Queries& state, Now) mutable {
    std::vector<model::WorkId> queued;
    for (const auto& one : page.jobs)
      if (one.job.record.state == model::WorkState::kQueued) queued.push_back(one.job.record.id);
    auto waiting = state.waiting(queued);
    for (auto& one : page.jobs)
      if (const auto its = waiting.find(one.job.record.id); its != waiting.end())
        one.waiting = std::move(its->second);
    answer(std::move(page));
  });
}

void DaemonService::set_idle_behavior(const api::Principal& who, model::InstanceId instance,
                                      model::IdleBehavior behavior, api::Answer<void> answer) {
  ask(dispatch::SetIdleBehavior{0, who.name, instance, behavior}, without_jobs(std::move(answer)));
}

void DaemonService::kill(const api::Principal& who, model::InstanceId instance,
                         const std::string& reason, api::Answer<void> answer) {
  ask(dispatch::KillInstance{0, who.name, instance, reason}, without_jobs(std::move(answer)));
}

void DaemonService::instances(const api::Principal&,
                              api::Answer<std::vector<model::InstanceView>> answer) {
  parts_.loop->look([answer = std::move(answer)](const dispatch::Queries& state, Now) {
    answer(state.instances());
  });
}
void DaemonService::pools(const api::Principal&, api::Answer<std::vector<model::PoolView>> answer) {
  parts_.loop->look([answer = std::move(answer)](const dispatch::Queries& state, Now) {
    answer(state.pools());
  });
}
void DaemonService::sets(const api::Principal&, api::Answer<std::vector<model::SetView>> answer) {
  parts_.loop->look([answer = std::move(answer)](const dispatch::Queries& state, Now) {
    answer(state.sets());
  });
}
void DaemonService::gates(const api::Principal&,
                          api::Answer<std::vector<model::GateRecord>> answer) {
  parts_.loop->look([answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    answer(state.gates(now.mono));
  });
}

/// Of other people's jobs submitters hear that something happened, not what: the revisions of a
/// feed have no holes.
Result<void> DaemonService::hide_reasons(const api::Principal& who,
                                         std::vector<model::LedgerRecord>& records) const {
  if (who.role != api::Role::kSubmit) return {};
  const auto job_of = [](const model::LedgerRecord& record) {
    return model::WorkId::parse(record.subject.substr(0, record.subject.find('.')));
  };
  std::set<model::WorkId> named;
  for (const auto& record : records)
    if (const auto id = job_of(record)) named.insert(*id);
  const auto own = HOSTLER_TRY(parts_.store->reads().jobs_of(who.name, named));
  for (auto& record : records)
    if (const auto id = job_of(record); id && !own.contains(*id))
      record.reason.clear(), record.data_json.clear();
  return {};
}

void DaemonService::events(const api::Principal& who, model::Revision after, std::size_t limit,
                           api::Answer<std::vector<model::LedgerRecord>> answer) {
  auto page = parts_.store->reads().ledger(after, limit);
  if (!page) return answer(tl::unexpected(page.error()));
  if (const auto hidden = hide_reasons(who, page->items); !hidden)
    return answer(tl::unexpected(hidden.error()));
  answer(std::move(page->items));
}

std::shared_ptr<void> DaemonService::on_new_events(std::function<void()> wake) {
  return parts_.events->watch(0, std::move(wake));
}

std::shared_ptr<void> DaemonService::on_new_output(model::WorkId job, std::function<void()> wake) {
  return parts_.output->watch(job, std::move(wake));
}

api::HealthView DaemonService::health() {
  const auto store = parts_.store->health();
  api::HealthView view;
  view.version = HOSTLER_VERSION;
  view.revision = *parts_.durable;
  view.ok = store.ok;
  if (!store.ok) view.problems.push_back({"store", store.error});
  if (const auto problem = parts_.store->outputs().problem(); !problem.empty())
    view.problems.push_back({"jobs' output", problem});
  auto looked = std::make_shared<std::promise<std::vector<model::SetView>>>();
  auto sets = looked->get_future();
  parts_.loop->look(
      [looked](const dispatch::Queries& state, Now) { looked->set_value(state.sets()); });
  if (sets.wait_for(kLookTimeout) != std::future_status::ready) {
    view.ok = false;
    view.problems.push_back({"loop", "it does not answer"});
    return view;
  }
  for (const auto& set : sets.get())
    if (!set.problem.empty()) view.problems.push_back({"set " + set.name, set.problem});
  return view;
}

void DaemonService::show_store() const {
  const auto store = parts_.store->health();
  metrics::StoreStatus status;
  status.commits = store.ok;
  status.takes_output = parts_.store->outputs().problem().empty();
  status.waiting = store.queued;
  std::error_code problem;
  const auto disk = std::filesystem::space(parts_.state_dir, problem);
  if (!problem) {
    status.disk_bytes = disk.capacity;
    status.disk_free_bytes = disk.available;
  }
  parts_.metrics->set_store(status);
}

std::string DaemonService::metrics_text() {
  // What is, is looked up when it is asked for; what happened was counted as it happened.
  show_store();
  auto looked = std::make_shared<std::promise<void>>();
  auto done = looked->get_future();
  const std::size_t waiting = parts_.loop->waiting();
  const Mono asked = read_clocks().mono;
  parts_.loop->look([feed = parts_.feed, looked](const dispatch::Queries& state, Now now) {
    feed->set_gauges(state, now);
    looked->set_value();
  });
  done.wait_for(kLookTimeout);
  parts_.metrics->set_loop(waiting, read_clocks().mono - asked);
  return parts_.metrics->text();
}

}  // namespace hostler::daemon
