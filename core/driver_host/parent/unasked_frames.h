#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/driver_host/parent/supervisor.h"

namespace hostler::driver_host {

/// Counts what the process of a driver sends and no call asked for: lines of log, pongs, broken
/// rules, ends of calls that are over. Its program limits them; a driver that writes to the socket
/// itself does not.
class UnaskedFrames {
 public:
  void add(SteadyTime now);
  /// A line of log, counted too. Those above a limit per second are left out: empty then. The next
  /// one says how many they were.
  std::string add_line(std::string line, SteadyTime now);
  /// When more may be read: it has sent as many in this second as are taken in one. Unset: now.
  [[nodiscard]] std::optional<SteadyTime> waits_until(SteadyTime now) const;
  /// The rule that it breaks by sending so many, with a count. Once a minute; empty: it does not.
  [[nodiscard]] std::string flood(SteadyTime now);

 private:
  SteadyTime second_{};
  std::size_t in_second_ = 0, lines_in_second_ = 0, left_out_ = 0;
  std::uint64_t all_ = 0;
  std::optional<SteadyTime> flood_told_;
};

}  // namespace hostler::driver_host
