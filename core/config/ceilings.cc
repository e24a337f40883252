#include "core/model/ceilings.h"
#include "core/config/load.h"

namespace hostler::config {

std::int64_t hosts_max_of(const model::SitePolicy& site) {
  std::int64_t out = 0;
  for (const model::PoolPolicy& pool : site.pools)
    out +=
        pool.sizes.texts.max.empty() ? pool.sizes.max : model::host_ceilings(site, pool).lowest();
  return out;
}

}  // namespace hostler::config
