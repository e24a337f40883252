#pragma once

#include <chrono>
#include <cstdint>

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
inline Wall operator+(Wall w, Duration d) {
  return {w.us + std::chrono::duration_cast<std::chrono::microseconds>(d).count()};
}
inline Duration operator-(Wall a, Wall b) { return std::chrono::microseconds(a.us - b.us); }

/// Both times of an event. The clocks are read once for each event.
struct Now {
  Mono mono;
  Wall wall;
};

}  // namespace hostler
