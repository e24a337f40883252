#include "core/dispatch/handlers/create_refusals.h"

#include <utility>

#include "core/dispatch/handlers/questions/currency.h"

namespace hostler::dispatch {

std::optional<CreateRefusals::Refusal> CreateRefusals::refuses(const scheduler::Offering& offering,
                                                               Now now) const {
  const Set& set = sets_.at(offering.set);
  const auto& pool = policy_.pools[offering.pool];
  std::string text = set.refuses_creates();
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
