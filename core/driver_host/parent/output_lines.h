#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace hostler::driver_host {

/// What the process of a driver writes to its standard output and error, in lines: each goes to the
/// log, within limits, and the last ones are kept for the message about its end.
class OutputLines {
 public:
  /// Takes bytes; returns the lines that are complete, fit to print.
  std::vector<std::string> add(std::string_view bytes);
  /// The last lines, "; " between them; empty if there was none.
  [[nodiscard]] std::string last() const;

 private:
  std::string part_;
  std::deque<std::string> last_;
};

}  // namespace hostler::driver_host
