#pragma once

#include <cstdint>
#include <vector>

#include "core/scheduler/world.h"

/// New hosts for exclusive items: one for each, which holds nothing else, so nothing is packed.
namespace hostler::scheduler {

/// The offerings that serve the exclusive demand and pass their gates, whatever ceilings say: the
/// cheapest first, those together that differ in set, zone or subnet only.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> whole_hosts(const World& world,
                                                                  const Demand& demand);

}  // namespace hostler::scheduler
