#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/dispatch/effects.h"
#include "core/dispatch/events.h"
#include "core/simulation/load.h"
#include "core/simulation/machine.h"
#include "core/simulation/task_queue.h"
#include "core/simulation/timeline.h"

namespace hostler::simulation {

/// A scheduler that is not hostler's, with the hosts of one pool: it pushes its agents and the
/// tasks that wait, and keeps the promise of docs/pushed.md: nothing is placed on an agent that the
/// last answer names.
class OutsideScheduler {
 public:
  struct Outside {
    std::function<std::vector<const Machine*>()> machines;  ///< Those that run.
    std::function<void(dispatch::Event)> post;
  };

  /// `load`: its tasks. `number`: of all schedulers. The others outlive it.
  OutsideScheduler(Timeline& time, const PushedLoad& scheduler, const model::PoolPolicy& pool,
                   Agents agents, Load load, std::uint64_t number, TaskCount& count,
                   Outside outside);

  /// Waits for the first task, and pushes for the first time. Later problems end the load: see
  /// problem().
  void begin();
  /// True: it was its push.
  bool hear(const dispatch::PushReply& answer);
  void lost(model::InstanceId host) { tasks_.lost(host); }
  void end(Duration lasted) { tasks_.end(lasted); }
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  Result<void> await_task();
  Result<void> take_due();
  void tick();
  void connect();
  void push();

  Timeline& time_;
  const Mono start_;
  const PushedLoad& scheduler_;
  const model::PoolPolicy& pool_;
  Load load_;
  const dispatch::Ticket first_ticket_;
  TaskCount& count_;
  const Outside outside_;
  TaskQueue tasks_;
  std::optional<Job> next_;
  std::uint64_t pushes_ = 0, seen_ = 0;
  std::optional<Error> problem_;
};

}  // namespace hostler::simulation
