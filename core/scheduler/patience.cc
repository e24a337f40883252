#include "core/scheduler/patience.h"

#include <algorithm>
#include <set>

namespace hostler::scheduler {
namespace {

bool is_spot_request(const HostView& host, const model::SitePolicy& policy) {
  return host.unfulfilled_spot && host.phase == HostPhase::kComing &&
         host.pool < policy.pools.size();
}

Mono stale_at(const HostView& host, const model::SitePolicy& policy) {
  return host.created + policy.pools[host.pool].spot_patience;
}

/// How long work may wait for spot, in any pool that has some.
std::set<Duration> patiences(const Snapshot& snapshot, const model::SitePolicy& policy) {
  std::set<std::uint32_t> pools;
  for (const Offering& o : snapshot.offerings)
    if (o.market == model::Market::kSpot && o.pool < policy.pools.size()) pools.insert(o.pool);
  std::set<Duration> out;
  for (const std::uint32_t p : pools)
    out.insert({policy.pools[p].spot_patience, policy.pools[p].spot_shortage_patience});
  return out;
}

}  // namespace

bool is_stale_spot(const HostView& host, Mono now, const model::SitePolicy& policy) {
  return is_spot_request(host, policy) && stale_at(host, policy) <= now;
}

Mono next_patience_end(const Snapshot& snapshot, const model::SitePolicy& policy) {
  Mono next = Mono::max();
  const auto see = [&](Mono when) {
    if (when > snapshot.now) next = std::min(next, when);
  };
  for (const HostView& host : snapshot.hosts)
    if (is_spot_request(host, policy)) see(stale_at(host, policy));
  const std::set<Duration> waits = patiences(snapshot, policy);
  for (const demand::ClassView& view : snapshot.classes)
    if (!view.shape.constraints.market)
      for (const Duration wait : waits) see(view.oldest + wait);
  return next;
}

}  // namespace hostler::scheduler
