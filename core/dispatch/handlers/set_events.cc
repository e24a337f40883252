#include "core/dispatch/handlers/set_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hostler::dispatch {
namespace {

/// How far back prices are fetched the first time.
constexpr Duration kFirstPrices = std::chrono::hours(24);

}  // namespace

void SetEvents::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (!set.open && !set.opening && set.open_at <= now.mono) {
    set.opening = true;
    recorder_.effect(OpenSet{set.name});
  }
  if (set.open && set.prices_at <= now.mono) fetch_prices(index, now);
}

void SetEvents::on(SetOpened& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  set.opening = false;
  if (!event.result) {
    const auto& error = event.result.error();
    ++set.failures;
    set.problem = error.message;
    set.open_at =
        now.mono + fleet::backoff(set.failures, std::chrono::seconds(1), std::chrono::minutes(1));
    recorder_.record("cloud", "set " + set.name, model::Event::kOpenFailed,
                     model::to_string(error.cls), error.message, now);
    return;
  }
  set.open = true;
  set.failures = 0;
  set.problem.clear();
  set.info = std::move(*event.result);
  set.list_at = now.mono;
  set.prices_at = set.info.has_price_history ? now.mono : fleet::kNever;
  recorder_.record("cloud", "set " + set.name, model::Event::kOpened, "",
                   "account " + set.info.account_id, now);
  hosts_.touch_all();
  plan_.want();
}

void SetEvents::fetch_prices(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  set.prices_at = now.mono + policy_.sets[index].price_interval;
  const scheduler::GateQuery query{.set = set.name, .op = model::CloudOp::kOther};
  for (const std::uint32_t type : menu_.types_of(index)) {
    // The first call may shut the gate for the others, if it is the one that probes.
    if (const auto* gate = gates_.shut(query, now.mono)) {
      set.prices_at = std::max(gate->until, now.mono + std::chrono::seconds(1));
      return;
    }
    gates_.sent(query, now.mono);
    const Wall since = menu_.newest_price(index, type).value_or(now.wall + -kFirstPrices);
    recorder_.effect(
        PricesCall{set.name, policy_.types[type], since, policy_.sets[index].list_timeout});
  }
}

void SetEvents::on(const PricesFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const scheduler::GateQuery query{.set = event.set, .op = model::CloudOp::kOther};
  if (!event.result) {
    auto error = event.result.error();
    // An account that may not read prices may still create.
    if (error.cls != model::CloudErrorClass::kRateLimit) error.scope |= model::scope::kOperation;
    gates_.answered(query, &error, now);
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
