#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/agent/host/system/os.h"

namespace hostler::agent {

/// A command on the host that ends soon, as the agent's user: one run of it at a time. What it
/// prints stays in pipes until it has ended; a command that prints more than they hold blocks and
/// runs into its timeout. Does not block, except for the start. Used by the server's one thread.
class HostCommand {
 public:
  enum class Errors : std::uint8_t {
    kWithOutput,  ///< Standard error goes where standard output goes.
    kDropped,
    kApart,
  };
  /// How a run has ended.
  struct Outcome {
    int status = 0;  ///< Wait status.
    bool timed_out = false;
    std::string output, errors;  ///< At most `text_max` bytes of each.
  };

  /// Starts `command` in a session of its own. From `kill_at` on, boottime in us, kill_overdue()
  /// kills it with its session. False: it could not be started. Only while none runs.
  bool start(std::vector<std::string> command, Errors errors, std::int64_t kill_at,
             std::size_t text_max);
  /// Kills it if its time is over; true if it has just done so.
  bool kill_overdue(std::int64_t now);
  void kill() const;
  /// The process `pid()` was reaped with this wait status.
  Outcome finish(int status);
  /// What it has printed so far; it cannot be read again.
  Outcome read_printed();

  [[nodiscard]] bool is_running() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }  ///< 0: none runs.
  /// When kill_overdue() has to be called, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() const { return is_running() ? kill_at_ : INT64_MAX; }

 private:
  pid_t pid_ = 0;
  UniqueFd output_, errors_;
  std::size_t text_max_ = 0;
  std::int64_t kill_at_ = 0;
  bool timed_out_ = false;
};

}  // namespace hostler::agent
