#include "core/dispatch/immediate_effects.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace hostler::dispatch {
namespace {

bool waits_for_commit(const Effect& effect) {
  return !std::holds_alternative<MakePlan>(effect) && !std::holds_alternative<ListCall>(effect) &&
         !std::holds_alternative<LookUpCall>(effect) &&
         !std::holds_alternative<PricesCall>(effect) && !std::holds_alternative<OpenSet>(effect);
}

}  // namespace

std::vector<Effect> take_immediate(Outbox& outbox) {
  auto& effects = outbox.effects;
  const auto first = std::stable_partition(effects.begin(), effects.end(), waits_for_commit);
  std::vector<Effect> immediate(std::make_move_iterator(first),
                                std::make_move_iterator(effects.end()));
  effects.erase(first, effects.end());
  return immediate;
}

}  // namespace hostler::dispatch
