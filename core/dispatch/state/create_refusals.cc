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

/// The name of the nearest price cap or price ceiling that applies; empty: none does.
std::string price_limit(const model::SitePolicy& policy, const scheduler::Offering& offering) {
  const auto& pool = policy.pools[offering.pool];
  const auto& set = policy.sets[offering.set];
  if (pool.price_cap_per_hour.value > 0) return "the price cap of pool " + pool.name;
  if (pool.ceilings.price_per_hour_max.value > 0) return "the price ceiling of pool " + pool.name;
  if (set.ceilings.price_per_hour_max.value > 0) return "the price ceiling of set " + set.name;
  return policy.ceilings.price_per_hour_max.value > 0 ? "the price ceiling of the site" : "";
}

}  // namespace

std::optional<CreateRefusals::Refusal> CreateRefusals::refuses_price(
    const scheduler::Offering& offering, Now now) const {
  const Set& set = sets_.at(offering.set);
  const auto& type = policy_.types[offering.type];
  const std::string limit = price_limit(policy_, offering);
  if (limit.empty() || !set.info.has_price_history || !type.only_in.empty()) return std::nullopt;
  const auto rate = model::rate_of(policy_, set.info.currency);
  if (!rate)
    return Refusal{.text = limit +
                           " cannot be kept: " + model::no_rate_text(policy_, set.info.currency)};
  const auto& answers = prices_.of(offering.set);
  const auto answer = answers.find(type.name);
  if (answer == answers.end() || answer->second.is_known(rate) ||
      PriceAnswers::is_given_up(answer->second, now.mono))
    return std::nullopt;
  const std::string& error = answer->second.error;
  return Refusal{.text = "set " + set.name + " has not said yet what it costs, and " + limit +
                         " applies" + (error.empty() ? "" : "; it refused to say it: " + error),
                 .awaits_price = error.empty()};
}

std::optional<CreateRefusals::Refusal> CreateRefusals::refuses(const scheduler::Offering& offering,
                                                               Now now) const {
  const Set& set = sets_.at(offering.set);
  const auto& pool = policy_.pools[offering.pool];
  std::string text = set.refuses_creates(now.mono);
  if (text.empty()) text = set.refuses_pool(pool);
  if (text.empty()) text = set.refuses_market(offering.market);
  if (text.empty()) text = images_.refuses(offering.set, offering.pool, offering.type);
  if (text.empty()) text = refuses_cap(policy_, set, pool, offering.market);
  if (!text.empty()) return Refusal{.text = std::move(text)};
  if (auto unknown = refuses_price(offering, now)) return unknown;
  if (is_unavailable(offering))
    return Refusal{.text = "the cloud of set " + set.name + " says that it has none now"};
  const auto* gate = gates_.shut(gates_.create_query(offering), now.mono);
  if (gate == nullptr) return std::nullopt;
  const std::string& message = gate->record.message;
  return Refusal{message.empty() ? "a gate is shut" : message, gate};
}

}  // namespace hostler::dispatch
