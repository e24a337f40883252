#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hostler::driver_host {

/// What belongs to the whole process, so that a driver must leave it alone (R44): handlers of
/// signals, locale, working directory, environment, umask.
///
/// Threads: one at a time. A driver that changes the environment while it is read may end the
/// process; it must not change it.
class ProcessState {
 public:
  /// As it is now.
  ProcessState() : seen_(read()) {}

  /// What has changed since the last look, as far as it can be seen: "the locale".
  std::vector<std::string> changes();

 private:
  struct Part {
    const char* name;
    std::optional<std::string> value;  ///< Unset: it cannot be seen now.
  };
  static std::vector<Part> read();

  std::vector<Part> seen_;
};

/// Whether no descriptor is left: then the driver cannot reach its cloud.
bool has_used_up_descriptors();

/// Threads of this process beside the calling one. Those that are just ending are waited for.
std::size_t other_threads();

}  // namespace hostler::driver_host
