#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/daemon/service/service.h"

/// Requests about leases.
namespace hostler::daemon {
namespace {

using Leases = std::vector<api::LeaseDetail>;

std::optional<api::JumpHost> jump_host_of(const config::Config& config, const std::string& set) {
  const auto found = std::ranges::find(config.sets, set, &config::Set::name);
  if (found == config.sets.end() || !found->proxy) return std::nullopt;
  return api::JumpHost{found->proxy->host, found->proxy->port, found->proxy->host_key};
}

/// Why they wait, and which hosts they have.
void add_present(Leases& leases, const config::Config& config, const dispatch::Queries& state,
                 Now now) {
  std::vector<model::WorkId> live;
  for (auto& one : leases) {
    const model::WorkRecord& record = one.lease.work.record;
    if (model::is_terminal(record.state)) continue;
    live.push_back(record.id);
    using model::WorkState;  // One that waits again names the host that it had.
    if (record.state != WorkState::kQueued && record.state != WorkState::kHeld)
      one.now.host = state.instance(record.instance, now);
    if (one.now.host && leases.size() > 1) one.now.host->cards.clear();
    if (one.now.host) one.now.jump_host = jump_host_of(config, one.now.host->record.set);
  }
  auto waiting = state.waiting(live);
  for (auto& one : leases)
    if (const auto its = waiting.find(one.lease.work.record.id); its != waiting.end())
      one.now.waiting = std::move(its->second);
}

/// Answers on the loop, with what it knows of the leases.
void tell(Loop& loop, std::shared_ptr<const config::Config> config, Leases leases,
          std::function<void(Leases)> answer) {
  loop.query([config = std::move(config), leases = std::move(leases), answer = std::move(answer)](
                 const dispatch::Queries& state, Now now) mutable {
    add_present(leases, *config, state, now);
    answer(std::move(leases));
  });
}

}  // namespace

void DaemonService::submit_lease(const api::Principal& who, api::LeaseRows lease,
                                 api::Answer<std::vector<model::WorkId>> answer) {
  if (const auto room = uses_.store->check_room(); !room)
    return answer(tl::unexpected(room.error()));
  request_change(dispatch::SubmitLease{0, who.name, std::move(lease.work), std::move(lease.terms)},
                 std::move(answer));
}

void DaemonService::lease(const api::Principal& who, model::WorkId id,
                          api::Answer<api::LeaseDetail> answer) {
  auto found = uses_.store->reads().lease(id, /*with_body=*/false);
  if (!found) return answer(tl::unexpected(std::move(found.error())));
  if (const auto may = may_read(who, found->item); !may) return answer(tl::unexpected(may.error()));
  Leases one;
  one.push_back({{std::move(found->item), found->terms}, {}});
  tell(*uses_.loop, uses_.config->get(), std::move(one),
       [answer = std::move(answer)](Leases told) { answer(std::move(told.front())); });
}

void DaemonService::leases(const api::Principal& who, const api::WorkFilter& filter,
                           api::Answer<api::LeasePage> answer) {
  auto found = page_of(who, filter, model::WorkKind::kLease);
  if (!found) return answer(tl::unexpected(std::move(found.error())));
  std::vector<model::WorkId> ids;
  for (const auto& one : found->items) ids.push_back(one.record.id);
  const auto terms = uses_.store->reads().lease_terms(ids);
  if (!terms) return answer(tl::unexpected(terms.error()));
  model::WorkId next;
  if (found->more && !ids.empty()) next = ids.back();
  Leases all;
  for (auto& one : found->items)  // One whose own row is damaged is left out.
    if (const auto its = terms->find(one.record.id); its != terms->end())
      all.push_back({{std::move(one), its->second}, {}});
  tell(*uses_.loop, uses_.config->get(), std::move(all),
       [next, answer = std::move(answer)](Leases told) {
         answer(api::LeasePage{std::move(told), next});
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
