#include <utility>

#include "core/daemon/service/service.h"

/// Requests about leases.
namespace hostler::daemon {
namespace {

/// Why they wait, and which hosts they have.
void add_present(std::vector<api::LeaseDetail>& leases, const dispatch::Queries& state, Now now) {
  std::vector<model::WorkId> live;
  for (auto& one : leases) {
    const model::WorkRecord& record = one.lease.work.record;
    if (model::is_terminal(record.state)) continue;
    live.push_back(record.id);
    if (record.instance) one.now.host = state.instance(record.instance, now);
  }
  auto waiting = state.waiting(live);
  for (auto& one : leases)
    if (const auto its = waiting.find(one.lease.work.record.id); its != waiting.end())
      one.now.waiting = std::move(its->second);
}

}  // namespace

void DaemonService::submit_lease(const api::Principal& who, api::LeaseRows lease,
                                 api::Answer<model::WorkId> answer) {
  if (const auto room = uses_.store->check_room(); !room)
    return answer(tl::unexpected(room.error()));
  request_change(dispatch::SubmitLease{0, who.name, std::move(lease.work), lease.terms},
                 [answer = std::move(answer)](Result<std::vector<model::WorkId>> ids) {
                   if (!ids) return answer(tl::unexpected(std::move(ids.error())));
                   answer(ids->at(0));
                 });
}

void DaemonService::add_details(std::vector<model::WorkItem> leases,
                                api::Answer<std::vector<api::LeaseDetail>> answer) const {
  std::vector<model::WorkId> ids;
  for (const auto& one : leases) ids.push_back(one.record.id);
  const auto terms = uses_.store->reads().leases(ids);
  if (!terms) return answer(tl::unexpected(terms.error()));
  std::vector<api::LeaseDetail> out;
  for (auto& one : leases)  // One whose own row is damaged is left out.
    if (const auto its = terms->find(one.record.id); its != terms->end())
      out.push_back({{std::move(one), its->second}, {}});
  uses_.loop->query([out = std::move(out), answer = std::move(answer)](
                        const dispatch::Queries& state, Now now) mutable {
    add_present(out, state, now);
    answer(std::move(out));
  });
}

void DaemonService::lease(const api::Principal& who, model::WorkId id,
                          api::Answer<api::LeaseDetail> answer) {
  auto found = readable_work(who, id);
  if (!found) return answer(tl::unexpected(found.error()));
  std::vector<model::WorkItem> one;
  one.push_back(std::move(*found));
  add_details(
      std::move(one), [id, answer = std::move(answer)](Result<std::vector<api::LeaseDetail>> all) {
        if (!all) return answer(tl::unexpected(std::move(all.error())));
        if (all->empty())
          return answer(
              fail(Errc::kInternal, "the row of " + id.text() + " in the table leases is damaged"));
        answer(std::move(all->front()));
      });
}

void DaemonService::leases(const api::Principal& who, const api::WorkFilter& filter,
                           api::Answer<api::LeasePage> answer) {
  auto found = page_of(who, filter, model::WorkKind::kLease);
  if (!found) return answer(tl::unexpected(found.error()));
  model::WorkId next;
  if (found->more && !found->items.empty()) next = found->items.back().record.id;
  add_details(std::move(found->items),
              [next, answer = std::move(answer)](Result<std::vector<api::LeaseDetail>> all) {
                if (!all) return answer(tl::unexpected(std::move(all.error())));
                answer(api::LeasePage{std::move(*all), next});
              });
}

void DaemonService::return_lease(const api::Principal& who, model::WorkId lease, bool used,
                                 api::Answer<void> answer) {
  if (const auto may = may_change(who, lease); !may) return answer(tl::unexpected(may.error()));
  request_change(dispatch::ReturnLease{0, who.name, who.role == api::Role::kAdmin, lease, used},
                 without_ids(std::move(answer)));
}

void DaemonService::renew_lease(const api::Principal& who, model::WorkId lease, Duration term,
                                api::Answer<void> answer) {
  if (const auto may = may_change(who, lease); !may) return answer(tl::unexpected(may.error()));
  request_change(dispatch::RenewLease{0, who.name, who.role == api::Role::kAdmin, lease, term},
                 without_ids(std::move(answer)));
}

}  // namespace hostler::daemon
