#pragma once

#include <algorithm>

#include "core/base/time.h"
#include "core/fleet/deadline.h"

namespace hostler::dispatch {

/// Something that is done at a time, without an event.
struct Timer {
  Mono at = fleet::kNever;  ///< kNever: it is not to be done.
  const char* what = "";    ///< One word for people; docs/api.md lists them.
};

/// The time of the first of them.
template <class Timers>
[[nodiscard]] Mono first_of(const Timers& timers) {
  Mono out = fleet::kNever;
  for (const Timer& timer : timers) out = std::min(out, timer.at);
  return out;
}

}  // namespace hostler::dispatch
