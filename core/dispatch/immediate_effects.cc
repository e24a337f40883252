#include "core/dispatch/immediate_effects.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace hostler::dispatch {
namespace {

struct WaitsForCommit {
  bool operator()(const MakePlan&) const { return false; }
  bool operator()(const ListCall&) const { return false; }
  bool operator()(const LookUpCall&) const { return false; }
  bool operator()(const PricesCall&) const { return false; }
  bool operator()(const OpenSet&) const { return false; }
  bool operator()(const ConsoleCall&) const { return false; }
  bool operator()(const WatchCall& call) const { return call.after_commit; }
  template <class Other>
  bool operator()(const Other&) const {
    return true;
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
