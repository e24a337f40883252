#pragma once

#include <cstddef>
#include <vector>

#include "core/scheduler/pack.h"

namespace hostler::scheduler {

/// More lots than this are not packed at once: the time of a packing grows with lots and kinds.
inline constexpr std::size_t kLotsMax = 256;

/// Joins lots of similar items, so that about `most` lots are left. Each item of a joined lot
/// counts as the most of each resource that one of them needs: hosts that hold them on paper hold
/// them, and have some room left. Lots that differ in what hosts they may go to are not joined, so
/// more than `most` may be left.
[[nodiscard]] std::vector<Lot> join_similar(const World& world, std::vector<Lot> lots,
                                            std::size_t most);

}  // namespace hostler::scheduler
