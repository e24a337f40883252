#include "core/dispatch/state/pool_bounds.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/scheduler/decide_bounds.h"

namespace hostler::dispatch {

void PoolBounds::say(std::uint32_t pool, std::string_view source,
                     std::vector<scheduler::Bound> all) {
  if (by_pool_.size() <= pool) by_pool_.resize(pool + 1);
  std::erase_if(by_pool_[pool], [&](const auto& bound) { return bound.source == source; });
  for (auto& bound : all) {
    HOSTLER_ASSERT(bound.source == source, "a source speaks for itself");
    by_pool_[pool].push_back(std::move(bound));
  }
}

void PoolBounds::expire(Mono now) {
  for (auto& pool : by_pool_)
    for (auto& bound : pool) {
      if (!bound.until || *bound.until > now) continue;
      bound.number.reset();
      bound.until.reset();
      bound.reason += (bound.reason.empty() ? "" : "; ") + std::string("that has ended");
    }
}

Mono PoolBounds::next_end() const {
  Mono out = fleet::kNever;
  for (const auto& pool : by_pool_)
    for (const auto& bound : pool)
      if (bound.until) out = std::min(out, *bound.until);
  return out;
}

std::int64_t PoolBounds::hosts_max(const model::SitePolicy& policy, std::uint32_t pool) const {
  const auto numbers = scheduler::numbers_of(policy, by_pool_, {}, {}, pool);
  const auto of =
      numbers.has_created ? scheduler::BoundOf::kCreatedMax : scheduler::BoundOf::kStartedMax;
  const bool is_unknown =
      std::ranges::any_of(scheduler::entry_of(by_pool_, pool),
                          [&](const auto& bound) { return bound.of == of && !bound.number; });
  const std::int64_t most = (numbers.has_created ? numbers.created : numbers.started).max.value;
  if (!is_unknown && most < scheduler::kNoLimit) return most;
  const auto ceiling = scheduler::host_ceiling(policy, pool);
  return ceiling ? ceiling->hosts : scheduler::kBoundMax;
}

std::int64_t PoolBounds::off_max(const model::SitePolicy& policy, std::uint32_t pool) const {
  return scheduler::numbers_of(policy, by_pool_, {}, {}, pool).off_max();
}

std::vector<scheduler::PoolNumbers> PoolBounds::numbers(const model::SitePolicy& policy,
                                                        const Hosts& hosts,
                                                        const SetAside& set_aside) const {
  return scheduler::numbers_of(policy, by_pool_, hosts.views(), set_aside.count_pools(policy));
}

scheduler::PoolNumbers PoolBounds::numbers(const model::SitePolicy& policy, const Hosts& hosts,
                                           const SetAside& set_aside, std::uint32_t pool) const {
  return scheduler::numbers_of(policy, by_pool_, hosts.views(), set_aside.count_pools(policy),
                               pool);
}

}  // namespace hostler::dispatch
