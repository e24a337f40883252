#pragma once

#include <functional>
#include <memory>

#include "core/dispatch/events.h"

namespace hostler::daemon {

/// Runs the drain commands of hosts, 32 at once, each on a thread of its own; others wait for their
/// turn. A command has PATH, HOME, LC_ALL and HOSTLER_* as its environment.
class DrainCommands {
 public:
  using Ended = std::function<void(dispatch::DrainEnded)>;

  /// `ended` is called on these threads, once for each command.
  explicit DrainCommands(Ended ended);
  /// Kills those that run, and drops the others: no end is reported of them. Rows say that their
  /// drains have begun, and no start runs them again: these hosts go when they are quiet, or after
  /// the timeout of their drains. Blocks for moments.
  ~DrainCommands();
  DrainCommands(const DrainCommands&) = delete;
  DrainCommands& operator=(const DrainCommands&) = delete;

  /// Any thread; returns at once.
  void run(dispatch::DrainCall call);
  /// The daemon stops: no command begins from now on, as it would be killed at once. Any thread.
  void refuse();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace hostler::daemon
