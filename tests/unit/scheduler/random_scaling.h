#pragma once

#include "tests/unit/scheduler/random_world.h"
#include "tests/unit/scheduler/scaling_site.h"

namespace hostler::scheduler {

/// Pools of the world have rules of scaling, expressions and what these gave; hosts have loads, and
/// some drain.
inline void scale(RandomWorld& world) {
  Random& random = world.random;
  auto& snapshot = world.snapshot;
  for (Offering& o : snapshot.offerings) o.can_stop = random.chance(0.6);
  for (HostView& h : snapshot.hosts) {
    if (h.offering < snapshot.offerings.size())
      h.can_stop = snapshot.offerings[h.offering].can_stop;
    h.power_unknown = !h.can_stop && random.chance(0.2);
    h.can_wake = h.phase == HostPhase::kStopped && random.chance(0.7);
    if (random.chance(0.5)) h.rank = static_cast<double>(random.below(4));
  }
  snapshot.bounds.resize(world.policy.pools.size());
  for (std::size_t p = 0; p < world.policy.pools.size(); ++p) {
    auto& pool = world.policy.pools[p];
    pool.sizes.min = std::min(pool.sizes.min, pool.sizes.max);
    if (random.chance(0.3)) pool.scaling.rank = "load";
    if (random.chance(0.3)) pool.scaling.lifetime_min = std::chrono::minutes(random.below(20));
    if (random.chance(0.4)) pool.scaling.drain.emplace().quiet = "load == 0";
    model::BoundTexts& texts = pool.sizes.texts;
    const auto expression = [&](BoundOf of, std::string& its) {
      if (!random.chance(0.5)) return;
      its = "n";
      if (random.chance(0.1)) return;
      Bound& bound = snapshot.bounds[p].emplace_back();
      bound.of = of;
      bound.source = kExpressionSource;
      if (random.chance(0.9)) bound.number = static_cast<std::int64_t>(random.below(13));
    };
    expression(BoundOf::kStartedMin, texts.min);
    expression(BoundOf::kStartedMax, texts.max);
    expression(BoundOf::kCreatedMin, texts.created_min);
    expression(BoundOf::kCreatedMax, texts.created_max);
    if (!pool.scaling.drain) continue;
    for (HostView& h : snapshot.hosts)
      if (h.pool == p && h.phase == HostPhase::kReady && random.chance(0.2))
        h.drain = random.chance(0.5) ? DrainPhase::kOver : DrainPhase::kUnderWay,
        h.takes_work = false;
  }
}

/// What booted and what was told to go has done so; work has ended.
inline void settle(RandomWorld& world) {
  std::erase_if(world.snapshot.hosts,
                [](const HostView& h) { return h.phase == HostPhase::kLeaving; });
  for (HostView& h : world.snapshot.hosts) {
    if (h.busy) h.busy = false, h.free = h.total;
    if (h.drain == DrainPhase::kUnderWay) h.drain = DrainPhase::kOver;
    if (h.phase != HostPhase::kComing) continue;
    h.phase = HostPhase::kReady, h.since = world.snapshot.now;
    h.takes_work = true, h.adopted = false, h.for_exchange = false;
  }
}

}  // namespace hostler::scheduler
