#pragma once

#include <string>

#include "core/base/random.h"
#include "core/scheduler/bound.h"

namespace hostler::scheduler {

/// What three sources say of the bounds of so many pools: of each bound a number up to 12 or that
/// they do not know it, or nothing.
inline BoundsByPool random_bounds(Random& random, std::size_t pools, Mono now) {
  BoundsByPool out(pools);
  for (auto& pool : out)
    for (const char* source : {"pushed", "expression", "admin"})
      for (std::size_t of = 0; of < kBoundsOfPool; ++of) {
        if (!random.chance(0.2)) continue;
        Bound& bound = pool.emplace_back();
        bound.of = static_cast<BoundOf>(of);
        bound.source = source;
        if (random.chance(0.6)) bound.number = static_cast<std::int64_t>(random.below(13));
        if (random.chance(0.5)) bound.reason = "what \"" + std::string(source) + "\" has seen";
        if (random.chance(0.3)) bound.until = now + std::chrono::seconds(1 + random.below(100));
      }
  return out;
}

}  // namespace hostler::scheduler
