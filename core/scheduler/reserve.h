#pragma once

#include <cstdint>
#include <vector>

#include "core/scheduler/world.h"

/// Hosts kept for work that starves: that waits longer than its pool allows while smaller work
/// takes what becomes free.
namespace hostler::scheduler {

/// What an earlier plan reserved and is still needed: by host, the demand it is for, or kNone.
[[nodiscard]] std::vector<std::uint32_t> reservations(const World& world);

/// The oldest item of the highest priority that still waits gets a host of its own.
void reserve_one(const World& world, std::vector<std::uint32_t>& reserved);

}  // namespace hostler::scheduler
