#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/host/server/host_command.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// Runs the configured checks, each one at once and then at its interval, and reports when a check
/// turns from good to bad, or one of kInterrupted prints something else. Called by the server's
/// loop. Does not block, except for the start of a command.
class Checks {
 public:
  /// A check that turned bad, or has printed something else.
  struct Finding {
    std::string check;  ///< Name of the check.
    std::string text;   ///< How the command ended, and the end of its output; of kInterrupted what
                        ///< it has printed.
    Check::Kind kind{};
  };

  /// Replaces all checks. Commands of the previous checks are killed.
  void configure(std::vector<Check> checks);
  /// Starts the commands that are due, and kills those that exceed their timeout.
  void tick();
  /// When tick() has to be called next, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() const;
  /// Adds the process ids of running commands.
  void add_pids(std::set<pid_t>& out) const;
  /// Call it for each child that was reaped, with its wait status. False if it was no check.
  bool on_exit(pid_t pid, int status, const std::function<void(Finding&&)>& report);

 private:
  struct State {
    Check check;
    std::int64_t next = 0;  ///< When to start it next, boottime in us.
    HostCommand run;
    bool bad = false;                 ///< The last result was bad, and was reported.
    std::optional<std::string> said;  ///< Of kInterrupted: the last output that was reported.
    std::int64_t unchanged = 0;       ///< Of kInterrupted: runs since then that printed the same.
  };
  static void start(State& state);
  static void on_notice_check(State& state, std::string_view text,
                              const std::function<void(Finding&&)>& report);

  std::vector<State> states_;
};

}  // namespace hostler::agent
