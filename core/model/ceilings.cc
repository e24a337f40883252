#include "core/model/ceilings.h"

#include <algorithm>

namespace hostler::model {
namespace {

std::int64_t sum_of_sets(const SitePolicy& site, const PoolPolicy& pool) {
  std::int64_t out = 0;
  for (const SetPolicy& set : site.sets) {
    if (std::ranges::find(pool.sets, set.name) == pool.sets.end()) continue;
    if (set.ceilings.instances_max <= 0) return 0;
    out += set.ceilings.instances_max;
  }
  return out;
}

}  // namespace

std::int64_t HostCeilings::lowest() const {
  std::int64_t out = 0;
  for (const std::int64_t one : {pool, sets, site})
    if (one > 0) out = out == 0 ? one : std::min(out, one);
  return out;
}

HostCeilings host_ceilings(const SitePolicy& site, const PoolPolicy& pool) {
  return {.pool = pool.ceilings.instances_max,
          .sets = sum_of_sets(site, pool),
          .site = site.ceilings.instances_max};
}

}  // namespace hostler::model
