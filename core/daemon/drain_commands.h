#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "core/base/mutex.h"
#include "core/base/spawn.h"
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
  void serve();
  [[nodiscard]] dispatch::DrainEnded run_one(const dispatch::DrainCall& call) const;

  const Ended ended_;
  Pipe stop_;  ///< Its end for writing is closed to end the commands.
  Mutex mutex_;
  Condition thread_ended_;
  std::deque<dispatch::DrainCall> waiting_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t threads_ HOSTLER_GUARDED_BY(mutex_) = 0;
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
};

}  // namespace hostler::daemon
