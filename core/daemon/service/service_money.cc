#include <utility>

#include "core/daemon/service/cost_view.h"
#include "core/daemon/service/service.h"

/// Requests about prices and costs.
namespace hostler::daemon {

void DaemonService::prices(const api::Principal&, const api::PriceQuery& query,
                           api::Answer<api::PricesView> answer) {
  if (query.limit == 0) return answer(api::PricesView{});
  auto page = uses_.store->reads().prices({query.set, query.type, query.limit});
  if (!page) return answer(tl::unexpected(page.error()));
  answer(api::PricesView{std::move(page->items), page->more});
}

void DaemonService::cost(const api::Principal& who, const api::CostQuery& query,
                         api::Answer<model::CostView> answer) {
  const bool own = who.role == api::Role::kSubmit;
  if (own && !is_by_work(query.by))
    return answer(fail(Errc::kForbidden, who.name + " may ask by user or by job: what instances " +
                                             "cost is for readers and admins"));
  const bool taken =
      uses_.worker->post([store = uses_.store, query, owner = own ? who.name : "", answer] {
        answer(make_cost_view(store->reads(), query, owner));
      });
  if (!taken) answer(fail(Errc::kUnavailable, "too many bills are being made; ask again later"));
}

void DaemonService::shares(const api::Principal& who, api::Answer<model::SharesView> answer) {
  uses_.loop->query([who, answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    model::SharesView view = state.shares(now.mono);
    if (who.role == api::Role::kSubmit)  // The names of others are their own.
      std::erase_if(view.principals, [&](const auto& one) { return one.principal != who.name; });
    answer(std::move(view));
  });
}

}  // namespace hostler::daemon
