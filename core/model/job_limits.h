#pragma once

#include <cstddef>

namespace hostler::model {

/// Limits of one job, checked when it is read. hostler is tested with the defaults. The
/// configuration may change them within the limits of the agent's protocol.
struct JobLimits {
  std::size_t arguments_max = 4096;
  std::size_t argument_bytes_max = std::size_t{128} * 1024 - 1;  ///< Linux' own limit on one.
  std::size_t command_bytes_max = std::size_t{512} * 1024;       ///< All arguments, or the script.
  std::size_t env_count_max = 1000;
  std::size_t env_bytes_max = std::size_t{256} * 1024;
  std::size_t stdin_bytes_max = std::size_t{1024} * 1024;
  std::size_t inputs_max = 1000;
  std::size_t outputs_max = 100;
  std::size_t types_max = 64;  ///< In constraints.
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

}  // namespace hostler::model
