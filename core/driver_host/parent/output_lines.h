#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "core/driver_host/parent/supervisor.h"

namespace hostler::driver_host {

/// What the process of a driver writes to its standard output and error, in lines: each goes to the
/// log, within limits, and the last ones are kept for the message about its end.
class OutputLines {
 public:
  /// Takes bytes; returns the lines that are complete, fit to print. Not more than 50 a second: the
  /// number of those that were left out is in the next one.
  std::vector<std::string> add(std::string_view bytes, SteadyTime now);
  /// The last lines, "; " between them; empty if there was none.
  [[nodiscard]] std::string last() const;

 private:
  bool may_pass(SteadyTime now);

  std::string part_;
  std::deque<std::string> last_;
  SteadyTime second_{};
  std::size_t in_second_ = 0, left_out_ = 0;
};

}  // namespace hostler::driver_host
