#include "core/daemon/service/service.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/api/access.h"

namespace hostler::daemon {
namespace {

/// While more commits than this wait for the disk, changes are refused.
constexpr std::size_t kCommitsWaitingMax = 1000;

bool may_wait(model::WorkState state) {
  return state == model::WorkState::kQueued || state == model::WorkState::kHeld ||
         state == model::WorkState::kCollecting;
}

/// The UUIDs of the cards that the attempt of the job has now.
std::vector<std::string> cards_of(const model::WorkRecord& job, const dispatch::Queries& state,
                                  Now now) {
  std::vector<std::string> out;
  const auto host = state.instance(job.instance, now);
  if (!host) return out;
  for (const auto& one : host->cards)
    if (one.attempt == model::AttemptId{job.id, job.attempt}) out.push_back(one.card.uuid);
  return out;
}

}  // namespace

PendingReplies::Answer DaemonService::without_ids(api::Answer<void> answer) {
  return [answer = std::move(answer)](Result<std::vector<model::WorkId>> result) {
    if (!result) return answer(tl::unexpected(std::move(result.error())));
    answer({});
  };
}

Result<void> DaemonService::check_state() const {
  const auto old = uses_.store->old_state();
  if (old.empty()) return {};
  return fail(Errc::kConflict, "nothing can be changed: the state is old: " + old +
                                   "; see docs/backup.md about --restored");
}

Result<void> DaemonService::check_store() const {
  HOSTLER_TRY(check_state());
  const auto health = uses_.store->health();
  if (health.ok && health.queued <= kCommitsWaitingMax) return {};
  return fail(Errc::kUnavailable, "nothing can be accepted now: the store does not commit" +
                                      (health.error.empty() ? std::string() : ": " + health.error));
}

Result<dispatch::Submit> DaemonService::submit_of(const api::Principal& who,
                                                  std::vector<model::WorkItem> jobs) const {
  HOSTLER_TRY(uses_.store->check_room());
  dispatch::Submit event{0, who.name, std::move(jobs)};
  if (uses_.quotas->of(who.name).output_bytes_max) {
    const auto bytes = uses_.store->output_bytes_of(who.name);
    event.output_bytes = bytes ? std::optional(*bytes) : std::nullopt;
  }
  return event;
}

void DaemonService::submit(const api::Principal& who, std::vector<model::WorkItem> jobs,
                           api::Answer<std::vector<model::WorkId>> answer) {
  auto event = submit_of(who, std::move(jobs));
  if (!event) return answer(tl::unexpected(std::move(event.error())));
  request_change(std::move(*event), std::move(answer));
}

Result<void> DaemonService::may_change(const api::Principal& who, model::WorkId work) const {
  const auto known = HOSTLER_TRY(stored_work(work, /*with_body=*/false));
  if (who.role != api::Role::kAdmin && known.principal != who.name)
    return fail(Errc::kForbidden, work.text() + " is not yours");
  if (!model::is_terminal(known.record.state)) return {};
  const char* how = work.kind == model::WorkKind::kLease ? model::to_string(known.record.reason)
                                                         : model::to_string(known.record.state);
  return fail(Errc::kConflict, work.text() + " has ended: " + how);
}

void DaemonService::cancel(const api::Principal& who, model::WorkId work,
                           api::Answer<void> answer) {
  if (const auto may = may_change(who, work); !may) return answer(tl::unexpected(may.error()));
  request_change(dispatch::CancelWork{0, who.name, who.role == api::Role::kAdmin, work},
                 without_ids(std::move(answer)));
}

void DaemonService::give_up_output(const api::Principal& who, model::WorkId job,
                                   api::Answer<void> answer) {
  if (const auto may = may_change(who, job); !may) return answer(tl::unexpected(may.error()));
  request_change(dispatch::GiveUpOutput{0, who.name, who.role == api::Role::kAdmin, job},
                 without_ids(std::move(answer)));
}

void DaemonService::release(const api::Principal& who, model::WorkId work,
                            api::Answer<void> answer) {
  const auto known = stored_work(work, /*with_body=*/false);
  if (!known) return answer(tl::unexpected(known.error()));
  request_change(dispatch::ReleaseWork{0, who.name, work}, without_ids(std::move(answer)));
}

void DaemonService::release_held(const api::Principal& who,
                                 api::Answer<std::vector<model::WorkId>> answer) {
  request_change(dispatch::ReleaseWork{0, who.name, std::nullopt}, std::move(answer));
}

void DaemonService::cancel_held(const api::Principal& who,
                                api::Answer<std::vector<model::WorkId>> answer) {
  request_change(dispatch::CancelHeld{0, who.name}, std::move(answer));
}

Result<model::WorkItem> DaemonService::stored_work(model::WorkId work, bool with_body) const {
  if (work.kind != model::WorkKind::kLease) return uses_.store->reads().job(work, with_body);
  auto lease = HOSTLER_TRY(uses_.store->reads().lease(work, with_body));
  return std::move(lease.item);
}

Result<void> DaemonService::may_read(const api::Principal& who, const model::WorkItem& work) {
  if (api::sight_of(who, work.principal) != api::Sight::kNone) return {};
  return fail(Errc::kForbidden, work.record.id.text() + " is not yours");
}

Result<model::WorkItem> DaemonService::readable_work(const api::Principal& who, model::WorkId work,
                                                     bool with_body) const {
  auto found = HOSTLER_TRY(stored_work(work, with_body));
  HOSTLER_TRY(may_read(who, found));
  return found;
}

void DaemonService::job(const api::Principal& who, model::WorkId id, bool with_body,
                        api::Answer<api::JobDetail> answer) {
  auto found = readable_work(who, id, with_body);
  if (!found) return answer(tl::unexpected(found.error()));
  api::JobDetail detail{std::move(*found), std::nullopt, {}};
  if (model::is_terminal(detail.job.record.state)) return answer(std::move(detail));
  uses_.loop->query([id, detail = std::move(detail), answer = std::move(answer)](
                        const dispatch::Queries& state, Now now) mutable {
    if (may_wait(detail.job.record.state)) detail.waiting = state.waiting(id);
    detail.cards = cards_of(detail.job.record, state, now);
    answer(std::move(detail));
  });
}

Result<store::Page<model::WorkItem>> DaemonService::page_of(const api::Principal& who,
                                                            const api::WorkFilter& filter,
                                                            model::WorkKind kind) const {
  store::JobFilter wanted;
  wanted.kind = kind;
  wanted.states = filter.states;
  wanted.principal = who.role == api::Role::kSubmit ? who.name : filter.principal;
  wanted.name = filter.name;
  wanted.after = filter.before;
  wanted.newest_first = true;
  wanted.limit = filter.limit;
  return uses_.store->reads().jobs(wanted);
}

void DaemonService::jobs(const api::Principal& who, const api::WorkFilter& filter,
                         api::Answer<api::JobPage> answer) {
  auto found = page_of(who, filter, model::WorkKind::kJob);
  if (!found) return answer(tl::unexpected(found.error()));
  api::JobPage page;
  if (found->more && !found->items.empty()) page.next = found->items.back().record.id;
  for (auto& row : found->items) page.jobs.push_back({std::move(row), std::nullopt, {}});
  uses_.loop->query([page = std::move(page), answer = std::move(answer)](
                        const dispatch::Queries& state, Now) mutable {
    std::vector<model::WorkId> asked;
    for (const auto& one : page.jobs)
      if (may_wait(one.job.record.state)) asked.push_back(one.job.record.id);
    auto waiting = state.waiting(asked);
    for (auto& one : page.jobs)
      if (const auto its = waiting.find(one.job.record.id); its != waiting.end())
        one.waiting = std::move(its->second);
    answer(std::move(page));
  });
}

void DaemonService::set_idle_behavior(const api::Principal& who, model::InstanceId instance,
                                      model::IdleBehavior behavior, api::Answer<void> answer) {
  request_change(dispatch::SetIdleBehavior{0, who.name, instance, behavior},
                 without_ids(std::move(answer)));
}

void DaemonService::kill(const api::Principal& who, model::InstanceId instance,
                         const std::string& reason, api::Answer<void> answer) {
  request_change(dispatch::KillInstance{0, who.name, instance, reason},
                 without_ids(std::move(answer)));
}

void DaemonService::report_ready(const api::Principal& who, model::InstanceId instance,
                                 api::Answer<void> answer) {
  request_change(dispatch::ReportReady{0, who.name, instance}, without_ids(std::move(answer)));
}

void DaemonService::accept_account(const api::Principal& who, const std::string& set,
                                   api::Answer<void> answer) {
  request_change(dispatch::AcceptAccount{0, who.name, set}, without_ids(std::move(answer)));
}

void DaemonService::believe(const api::Principal& who, const std::string& set, std::uint64_t list,
                            api::Answer<void> answer) {
  request_change(dispatch::BelieveList{0, who.name, set, list}, without_ids(std::move(answer)));
}

void DaemonService::give_up(const api::Principal& who, const std::string& set,
                            api::Answer<void> answer) {
  request_change(dispatch::GiveUpUnreachable{0, who.name, set}, without_ids(std::move(answer)));
}

void DaemonService::open_gate(const api::Principal& who, const std::string& key,
                              api::Answer<void> answer) {
  request_change(dispatch::OpenGate{0, who.name, key}, without_ids(std::move(answer)));
}

void DaemonService::instances(const api::Principal&,
                              api::Answer<std::vector<model::InstanceView>> answer) {
  uses_.loop->query([answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    answer(state.instances(now));
  });
}
void DaemonService::pools(const api::Principal&, api::Answer<std::vector<model::PoolView>> answer) {
  uses_.loop->query(
      [answer = std::move(answer)](const dispatch::Queries& state, Now) { answer(state.pools()); });
}
void DaemonService::push(const api::Principal& who, const std::string& pool, model::Push push,
                         api::Answer<model::PushAnswer> answer) {
  request_change(dispatch::PushReceived{0, who.name, pool, std::move(push)}, std::move(answer));
}
void DaemonService::scaling_info(const api::Principal&, const std::string& pool,
                                 api::Answer<model::ScalingInfoView> answer) {
  uses_.loop->query([pool, answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    answer(state.scaling_info(pool, now));
  });
}
void DaemonService::types(const api::Principal&, api::Answer<std::vector<model::TypeView>> answer) {
  uses_.loop->query(
      [answer = std::move(answer)](const dispatch::Queries& state, Now) { answer(state.types()); });
}
void DaemonService::sets(const api::Principal&, api::Answer<std::vector<model::SetView>> answer) {
  uses_.loop->query(
      [answer = std::move(answer), driver = uses_.driver](const dispatch::Queries& state, Now now) {
        answer(sets_with_drivers(state, driver, now));
      });
}
void DaemonService::gates(const api::Principal&,
                          api::Answer<std::vector<model::GateRecord>> answer) {
  uses_.loop->query([answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    answer(state.gates(now.mono));
  });
}

Result<void> DaemonService::hide_reasons(const api::Principal& who,
                                         std::vector<model::LedgerRecord>& records) const {
  if (who.role == api::Role::kAdmin) return {};
  const auto job_of = [](const model::LedgerRecord& record) {
    return model::WorkId::parse(record.subject.substr(0, record.subject.find('.')));
  };
  std::set<model::WorkId> named;
  for (const auto& record : records)
    if (const auto id = job_of(record)) named.insert(*id);
  const auto own = HOSTLER_TRY(uses_.store->reads().submitted_by(who.name, named));
  for (auto& record : records) {
    const auto id = job_of(record);
    const bool of_others = id && !own.contains(*id);
    if (of_others || record.event == model::Event::kConsole)
      record.reason.clear(), record.data_json.clear();
  }
  return {};
}

void DaemonService::events(const api::Principal& who, model::Revision after, std::size_t limit,
                           api::Answer<std::vector<model::LedgerRecord>> answer) {
  auto page = uses_.store->reads().ledger(after, limit);
  if (!page) return answer(tl::unexpected(page.error()));
  if (const auto hidden = hide_reasons(who, page->items); !hidden)
    return answer(tl::unexpected(hidden.error()));
  answer(std::move(page->items));
}

std::shared_ptr<void> DaemonService::on_new_events(std::function<void()> wake) {
  return uses_.events->watch(0, std::move(wake));
}

std::shared_ptr<void> DaemonService::on_new_output(model::WorkId job, std::function<void()> wake) {
  return uses_.output->watch(job, std::move(wake));
}

}  // namespace hostler::daemon
