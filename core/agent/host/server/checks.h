#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// Runs the configured checks, each at its interval and the first time at once, and says when one
/// turns bad. Driven by the server's loop; nothing here blocks but a check's exec.
class Checks {
 public:
  struct Finding {
    std::string check;
    std::string text;
    Check::Kind kind{};
  };

  /// Forgets the checks before; what runs of them is killed.
  void configure(std::vector<Check> checks);
  /// Starts what is due, ends what is over its time.
  void tick();
  /// When tick() is due next, boottime in us; INT64_MAX: never.
  [[nodiscard]] std::int64_t due() const;
  /// Children that are no strays.
  void add_pids(std::set<pid_t>& out) const;
  /// True if `pid` was a check's. `status` is waitpid's.
  bool on_exit(pid_t pid, int status, const std::function<void(Finding&&)>& report);

 private:
  struct State {
    Check check;
    std::int64_t next = 0;
    pid_t pid = 0;
    UniqueFd output;
    std::int64_t kill_at = 0;
    bool timed_out = false;
    bool bad = false;  ///< It was reported.
  };
  static void start(State& state);

  std::vector<State> states_;
};

}  // namespace hostler::agent
