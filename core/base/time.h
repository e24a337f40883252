#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/base/saturating.h"

namespace hostler {

using Duration = std::chrono::nanoseconds;

/// The clock of decisions and deadlines: CLOCK_BOOTTIME in the daemon, a virtual clock in the
/// simulation. It has no now(), because time is an input.
struct MonoClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};
using Mono = MonoClock::time_point;

/// Wall time in microseconds since 1970, for storing and displaying. Never compared with Mono.
struct Wall {
  std::int64_t us = 0;
  friend auto operator<=>(const Wall&, const Wall&) = default;
};
/// Saturates, as the difference does: files and servers can say any time.
inline Wall operator+(Wall w, Duration d) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  return {add_saturating(w.us, us)};
}
/// Within 292 years, which a Duration has. Of times that are further apart: 292 years.
inline Duration operator-(Wall a, Wall b) {
  constexpr auto kMax = std::chrono::duration_cast<std::chrono::microseconds>(Duration::max());
  std::int64_t us = 0;
  if (__builtin_sub_overflow(a.us, b.us, &us)) us = a < b ? -kMax.count() : kMax.count();
  return std::clamp(std::chrono::microseconds(us), -kMax, kMax);
}

/// Both times of an event. The clocks are read once for each event.
struct Now {
  Mono mono;
  Wall wall;
};

}  // namespace hostler
