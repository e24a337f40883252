#pragma once

#include <vector>

#include "core/demand/class_view.h"
#include "core/demand/lane_caps.h"

namespace hostler::demand {

/// The classes of the queue that have items, for a plan: by priority, then by the turn of the first
/// item. Each has the turns of its first items, at most 32: principals of one priority take turns
/// in all its classes together, so that nobody gets more turns by more shapes. `turn_cost` as in
/// Queue::ahead(). Items beyond `caps` are left out, priced ones have a view of their own.
/// O(classes + turns), and one look at each principal with items in a class.
[[nodiscard]] std::vector<ClassView> views_by_turns(const Queue& queue, double turn_cost,
                                                    const LaneCaps& caps = {});

}  // namespace hostler::demand
