#include "core/demand/lane_order.h"

namespace hostler::demand {

std::optional<LanePlace> LaneOrder::first_fit(Tree::node_const_iterator node,
                                              std::optional<std::int32_t> priority,
                                              LaneSearch& search) const {
  if (node == tree_.node_end() || search.steps == 0) return std::nullopt;
  --search.steps;
  if (!node.get_metadata().fits_in(search.room)) return std::nullopt;
  const auto& [place, needs] = **node;
  const bool is_before = priority && place.priority > *priority;
  const bool is_after = priority && place.priority < *priority;
  if (!is_before)
    if (const auto found = first_fit(node.get_l_child(), priority, search)) return found;
  if (search.steps == 0) return std::nullopt;
  if (!is_before && !is_after && needs.fits_in(search.room) && search.accepts(place)) return place;
  return is_after ? std::nullopt : first_fit(node.get_r_child(), priority, search);
}

}  // namespace hostler::demand
