#include <algorithm>

#include "core/config/readers.h"

namespace hostler::config {

std::int64_t sets_max_of(const model::SitePolicy& site, const model::PoolPolicy& pool) {
  std::int64_t out = 0;
  for (const model::SetPolicy& set : site.sets) {
    if (std::ranges::find(pool.sets, set.name) == pool.sets.end()) continue;
    if (set.ceilings.instances_max == 0) return 0;
    out += set.ceilings.instances_max;
  }
  return out;
}

std::int64_t ceiling_of(const model::SitePolicy& site, const model::PoolPolicy& pool) {
  std::int64_t out = 0;
  for (const std::int64_t one : {std::int64_t{pool.ceilings.instances_max}, sets_max_of(site, pool),
                                 std::int64_t{site.ceilings.instances_max}})
    if (one != 0) out = out == 0 ? one : std::min(out, one);
  return out;
}

std::int64_t hosts_max_of(const model::SitePolicy& site) {
  std::int64_t out = 0;
  for (const model::PoolPolicy& pool : site.pools)
    out += pool.sizes.texts.max.empty() ? pool.sizes.max : ceiling_of(site, pool);
  return out;
}

}  // namespace hostler::config
