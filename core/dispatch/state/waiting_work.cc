#include "core/dispatch/state/waiting_work.h"

#include "core/base/assert.h"

namespace hostler::dispatch {

void WaitingWork::enter(const Place& place, Mono since) {
  queue_.push(place.cls, {place.arrival, place.work, since}, place.principal);
}

bool WaitingWork::leave(const Place& place) {
  return queue_.erase(place.cls, place.arrival, place.principal);
}

void WaitingWork::note_cancelled(demand::ClassId cls) {
  HOSTLER_ASSERT(queue_.waits(cls), "only work that waits is cancelled while it waits");
  ++cancelled_[cls];
}

}  // namespace hostler::dispatch
