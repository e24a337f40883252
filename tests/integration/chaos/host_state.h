#pragma once

#include <string>
#include <vector>

namespace hostler::chaos_table {

/// The state of this process that no driver may change: it stands for hostlerd's. Made before the
/// driver is loaded.
class HostState {
 public:
  /// `output`: where this process's standard output goes.
  explicit HostState(std::string output);
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  /// What is not as it was: "its locale is another".
  [[nodiscard]] std::vector<std::string> damages() const;

 private:
  struct Part {
    const char* damage;  ///< What to say if the value is another.
    std::string value;
  };
  [[nodiscard]] std::vector<Part> read() const;

  const std::string output_;
  int pipe_[2] = {-1, -1};  ///< Descriptors that only a driver gone wrong touches.
  std::vector<Part> before_;
};

}  // namespace hostler::chaos_table
