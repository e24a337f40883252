#include "core/dispatch/state/questions/watches.h"

#include <algorithm>

namespace hostler::dispatch {

Mono Watches::next_wake(const Sets& sets) const {
  Mono next = fleet::kNever;
  for (std::uint32_t i = 0; i < by_set_.size(); ++i)
    next = std::min(next, first_of(timers(sets, i)));
  return next;
}

std::array<Timer, 2> Watches::timers(const Sets& sets, std::uint32_t set) const {
  const SetWatch& watch = by_set_[set];
  const bool is_to_prove = watch.number && !watch.stands;
  const bool is_to_make = sets.at(set).is_open() && !watch.number && watch.supported;
  return {{{is_to_prove ? watch.sent + kStands : fleet::kNever, "watch_stands"},
           {is_to_make ? watch.next : fleet::kNever, "watch"}}};
}

}  // namespace hostler::dispatch
