#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/driver_host/parent/supervisor.h"

namespace hostler::driver_host {

/// What the process of a driver writes to its standard output and error, in lines: each goes to the
/// log, within limits, and the last ones are kept for the message about its end.
class OutputLines {
 public:
  /// Takes bytes; returns the lines that are complete, fit to print. A line ends after 4 KiB, and
  /// the rest of it is left out. Not more than 50 a second: the number of those that were left out
  /// is in the next one.
  std::vector<std::string> add(std::string_view bytes, SteadyTime now);
  /// When more may be read: it has written as much in this second as is read in one, and waits.
  /// Unset: now.
  [[nodiscard]] std::optional<SteadyTime> waits_until(SteadyTime now) const;
  /// The rule that it breaks by writing so much, with a count. Once a minute; empty: it does not.
  [[nodiscard]] std::string flood(SteadyTime now);
  /// The last lines, "; " between them; empty if there was none.
  [[nodiscard]] std::string last() const;

 private:
  void end_line(std::vector<std::string>& lines);
  bool may_pass();

  std::string part_;
  bool is_cut_ = false;  ///< The line has been given already; the rest of it is left out.
  std::deque<std::string> last_;
  SteadyTime second_{};
  std::size_t lines_in_second_ = 0, bytes_in_second_ = 0, left_out_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<SteadyTime> flood_told_;
};

}  // namespace hostler::driver_host
