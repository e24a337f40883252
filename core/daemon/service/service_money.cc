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

}  // namespace hostler::daemon
