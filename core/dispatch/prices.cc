#include <algorithm>
#include <set>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// What clouds say that their offerings cost.
namespace hostler::dispatch {
namespace {

/// How far back they are asked for the first time. Of what was before, the oldest is taken.
constexpr Duration kFirstLook = std::chrono::hours(24);

}  // namespace

void Dispatcher::ask_for_prices(std::uint32_t index, Now now) {
  Set& set = sets_[index];
  set.prices_at = now.mono + policy_.sets[index].price_interval;
  std::set<std::uint32_t> types;
  for (const auto& offering : offerings_)
    if (offering.set == index) types.insert(offering.type);
  const scheduler::GateQuery query{.set = set.name, .op = model::CloudOp::kOther};
  for (const std::uint32_t t : types) {
    // Also shut by the first of them, if that one is to find out.
    if (const auto* gate = gates_.shut(query, now.mono)) {
      set.prices_at = std::max(gate->until, now.mono + std::chrono::seconds(1));
      return;
    }
    gates_.passing(query, now.mono);
    const auto& type = policy_.types[t];
    const Wall since = prices_.newest(set.name, type.name).value_or(now.wall + -kFirstLook);
    out_.effects.emplace_back(PricesCall{set.name, type, since, policy_.sets[index].list_timeout});
  }
}

void Dispatcher::on(PricesSeen& event, Now now) {
  const auto index = set_index(event.set);
  if (!index) return;
  const scheduler::GateQuery query{.set = event.set, .op = model::CloudOp::kOther};
  if (!event.result) {
    auto error = event.result.error();
    // Who may not read prices may still create.
    if (error.cls != model::CloudErrorClass::kRateLimit) error.scope |= model::scope::kOperation;
    refused(query, error, now);
    if (event.result.error().cls == model::CloudErrorClass::kUnsupported)
      sets_[*index].prices_at = fleet::kNever;
    return;  // Asked again in its time; until then the prices that are known hold.
  }
  passed(query, now);
  auto news = prices_.take(event.set, event.type, *event.result, now.wall);
  if (news.empty()) return;
  for (auto& seen : news) out_.changes.emplace_back(std::move(seen));
  for (auto& offering : offerings_) {
    if (offering.set != *index || policy_.types[offering.type].name != event.type) continue;
    const model::Micros before = std::exchange(
        offering.price_per_hour, price_of(*index, offering.type, offering.zone, offering.market));
    if (before != offering.price_per_hour) plan_soon();
  }
}

model::Micros Dispatcher::price_of(std::uint32_t set, std::uint32_t type, const std::string& zone,
                                   model::Market market) const {
  const auto& of_menu = policy_.types[type];
  return prices_.price(sets_[set].name, of_menu.name, zone, market)
      .value_or(of_menu.price_per_hour);
}

}  // namespace hostler::dispatch
