#include "core/dispatch/handlers/questions/price_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/model/currency.h"

namespace hostler::dispatch {
namespace {

/// How far back prices are fetched the first time.
constexpr Duration kFirstPrices = std::chrono::hours(24);

}  // namespace

void PriceEvents::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (!set.is_open() || set.prices_at > now.mono) return;
  set.prices_at = now.mono + policy_.sets[index].price_interval;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kOther};
  for (const std::uint32_t type : menu_.types_of(index)) {
    if (!policy_.types[type].only_in.empty()) continue;  // Its offering says the price.
    // The first call may shut the gate for the others, if it is the one that probes.
    if (const auto* gate = gates_.shut(query, now.mono)) {
      set.prices_at = std::max(gate->until, now.mono + std::chrono::seconds(1));
      return;
    }
    gates_.sent(query, now.mono);
    const Wall since = menu_.newest_price(index, type).value_or(now.wall + -kFirstPrices);
    auto asked = policy_.types[type];
    asked.price_per_hour = model::from_site(asked.price_per_hour,
                                            model::rate_of(policy_, set.info.currency).value_or(1));
    recorder_.effect(
        PricesCall{set.name, std::move(asked), since, policy_.sets[index].list_timeout});
  }
}

void PriceEvents::on(const PricesFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const gates::GateQuery query{.set = event.set, .op = model::CloudOp::kOther};
  if (!event.result) {
    const auto& error = event.result.error();
    gates_.side_call_answered(query, &error, now);
    if (error.cls == model::CloudErrorClass::kUnsupported)
      sets_.at(*index).prices_at = fleet::kNever;
    return;  // Fetched again at the next interval; until then the known prices hold.
  }
  gates_.answered(query, nullptr, now);
  auto taken = menu_.take_prices(*index, event.type, *event.result, now.wall);
  for (auto& price : taken.news) recorder_.change(std::move(price));
  if (taken.changed) plan_.want();
}

}  // namespace hostler::dispatch
