#include <utility>

#include "core/daemon/service/cost_view.h"
#include "core/daemon/service/service.h"

/// Requests about prices and costs.
namespace hostler::daemon {
namespace {

std::vector<std::string> price_doubts(const std::vector<model::GateRecord>& gates) {
  std::vector<std::string> out;
  for (const auto& gate : gates)
    if (gate.cls == model::CloudErrorClass::kPrice)
      out.push_back("gate \"" + gate.key + "\": " + gate.message);
  return out;
}

}  // namespace

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
  uses_.loop->query([store = uses_.store, worker = uses_.worker, query, owner = own ? who.name : "",
                     answer = std::move(answer)](const dispatch::Queries& state, Now now) {
    const bool taken =
        worker->post([store, query, owner, answer, doubts = price_doubts(state.gates(now.mono))] {
          auto view = make_cost_view(store->reads(), query, owner);
          if (view) view->doubts = doubts;
          answer(std::move(view));
        });
    if (!taken) answer(fail(Errc::kUnavailable, "too many bills are being made; ask again later"));
  });
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
