#include "core/dispatch/state/questions/watches.h"

#include <algorithm>

namespace hostler::dispatch {

Mono Watches::next_wake(const Sets& sets) const {
  Mono next = fleet::kNever;
  for (std::uint32_t i = 0; i < by_set_.size(); ++i) {
    const SetWatch& watch = by_set_[i];
    if (watch.number && !watch.stands) next = std::min(next, watch.sent + kStands);
    if (sets.at(i).is_open() && !watch.number && watch.supported) next = std::min(next, watch.next);
  }
  return next;
}

}  // namespace hostler::dispatch
