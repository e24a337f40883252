#include "core/dispatch/immediate_effects.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

namespace hostler::dispatch {
namespace {

template <class Kind, class... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Kind, Kinds> || ...);

struct WaitsForCommit {
  bool operator()(const WatchCall& call) const { return call.after_commit; }
  template <class Kind>
  bool operator()(const Kind&) const {
    return !kIsOneOf<Kind, MakePlan, ListCall, LookUpCall, PricesCall, OpenSet, ConsoleCall>;
  }
};

bool waits_for_commit(const Effect& effect) { return std::visit(WaitsForCommit(), effect); }

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
