#include "core/dispatch/state/bound_decisions.h"

#include <utility>

namespace hostler::dispatch {

void BoundDecisions::Pool::keep(const std::vector<PoolExpressions::OfBound>& bounds) {
  if (bounds.empty()) {
    *this = {};
    return;
  }
  std::array<std::string, 4> fresh;
  for (const auto& bound : bounds) fresh[static_cast<std::size_t>(bound.of)] = bound.text;
  for (std::size_t of = 0; of < fresh.size(); ++of) {
    if (fresh[of] != texts[of]) scaling[of] = {};
    if (fresh[of].empty()) told[of].reset();
  }
  texts = std::move(fresh);
}

std::vector<std::uint32_t> BoundDecisions::take_due(Mono now) {
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool)
    if (pools_[pool].due && *pools_[pool].due <= now) wanted_.insert(pool);
  const auto wanted = std::exchange(wanted_, {});
  return {wanted.begin(), wanted.end()};
}

}  // namespace hostler::dispatch
