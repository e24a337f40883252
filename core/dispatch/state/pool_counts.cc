#include "core/dispatch/state/pool_counts.h"

#include <algorithm>

#include "core/scheduler/beyond_max.h"
#include "core/scheduler/fit.h"

namespace hostler::dispatch {
namespace {

/// Its set is closed: it is kept off until one can see whether it is standby.
bool may_be_standby(const scheduler::HostView& host) {
  return host.phase == scheduler::HostPhase::kStopped && host.power_unknown && !host.will_go();
}

}  // namespace

std::vector<PoolCounts> count_hosts(std::size_t pools,
                                    const std::vector<scheduler::HostView>& hosts) {
  std::vector<PoolCounts> out(pools);
  for (const auto& host : hosts) {
    if (host.pool >= pools || host.offering == UINT32_MAX) continue;
    PoolCounts& its = out[host.pool];
    const bool is_started = scheduler::counts_for_max(host);
    if (is_started) ++its.started;
    if (is_started || host.is_standby() || may_be_standby(host)) ++its.created;
    if (is_started && host.adopted) ++its.adopted;
    if (is_started && host.phase == scheduler::HostPhase::kReady)
      ++(host.busy ? its.busy : its.idle);
  }
  return out;
}

QueueCounts::QueueCounts(const demand::Queue& queue,
                         const std::vector<scheduler::Offering>& offerings,
                         const model::SitePolicy& policy)
    : queue_(queue),
      policy_(policy),
      offerings_(policy.pools.size()),
      counted_(policy.pools.size()) {
  for (const auto& offering : offerings) offerings_[offering.pool].push_back(&offering);
}

std::int64_t QueueCounts::of(std::uint32_t pool) {
  auto& counted = counted_[pool];
  if (!counted) counted = count(pool);
  return *counted;
}

std::int64_t QueueCounts::count(std::uint32_t pool) const {
  std::int64_t out = 0;
  for (const auto& order : queue_.order()) {
    const auto& work = queue_.at(order.cls);
    const bool may_run = std::ranges::any_of(offerings_[pool], [&](const auto* offering) {
      return scheduler::fits(work.shape, work.kind, *offering, policy_);
    });
    if (may_run) out += static_cast<std::int64_t>(work.count);
  }
  return out;
}

}  // namespace hostler::dispatch
