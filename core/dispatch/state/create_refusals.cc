#include "core/dispatch/state/create_refusals.h"

#include <utility>

#include "core/model/currency.h"

namespace hostler::dispatch {
namespace {

/// The pool's price cap has to be told to the cloud in its currency.
std::string refuses_cap(const model::SitePolicy& policy, const Set& set,
                        const model::PoolPolicy& pool, model::Market market) {
  if (market != model::Market::kSpot || pool.price_cap_per_hour.value == 0) return {};
  if (model::rate_of(policy, set.info.currency)) return {};
  return "the price cap of pool " + pool.name +
         " cannot be told to the cloud: " + model::no_rate_text(policy, set.info.currency);
}

}  // namespace

std::optional<CreateRefusals::Refusal> CreateRefusals::refuses(const scheduler::Offering& offering,
                                                               Now now) const {
  const Set& set = sets_.at(offering.set);
  const auto& pool = policy_.pools[offering.pool];
  std::string text = set.refuses_creates(now.mono);
  if (text.empty()) text = set.refuses_pool(pool);
  if (text.empty()) text = set.refuses_market(offering.market);
  if (text.empty()) text = images_.refuses(offering.set, offering.pool, offering.type);
  if (text.empty()) text = refuses_cap(policy_, set, pool, offering.market);
  if (text.empty() && is_unavailable(offering))
    text = "the cloud of set " + set.name + " says that it has none now";
  if (!text.empty()) return Refusal{.text = std::move(text)};
  const auto* gate = gates_.shut(gates_.create_query(offering), now.mono);
  if (gate == nullptr) return std::nullopt;
  const std::string& message = gate->record.message;
  return Refusal{message.empty() ? "a gate is shut" : message, gate};
}

}  // namespace hostler::dispatch
