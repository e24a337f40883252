#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/effects.h"
#include "core/dispatch/events.h"
#include "core/simulation/agents.h"
#include "core/simulation/load.h"
#include "core/simulation/machine.h"
#include "core/simulation/report.h"
#include "core/simulation/timeline.h"
#include "core/simulation/waits.h"

namespace hostler::simulation {

/// What the tasks of all outside schedulers came to.
struct TaskCount {
  TaskFigures figures;  ///< Without the waits.
  Waits waits;          ///< Until the first start.
  [[nodiscard]] TaskFigures complete();
};

/// A scheduler that is not hostler's, with the hosts of one pool. It places each task on the first
/// agent with room, in the order of their arrival, and keeps the promise of docs/pushed.md: nothing
/// is placed on an agent that the last answer names.
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
  /// The machine has gone: its tasks wait again, before all others.
  void lost(model::InstanceId host);
  /// Nothing comes any more: tasks that have not started count with their wait until now.
  void end(Duration lasted);
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  struct Task {
    std::uint64_t number = 0;
    Job job;
    bool was_started = false;
  };
  struct Started {
    Task task;
    std::vector<model::InstanceId> hosts;
  };

  Result<void> await_task();
  Result<void> take_due();
  void tick();
  void connect();
  void place();
  [[nodiscard]] bool start(Task& task);
  [[nodiscard]] bool is_held_back(const Job& job) const;
  void use(const Job& job, std::int64_t sign);
  void push();

  Timeline& time_;
  const Mono start_;
  const PushedLoad& scheduler_;
  const model::PoolPolicy& pool_;
  Agents agents_;
  Load load_;
  const dispatch::Ticket first_ticket_;
  TaskCount& count_;
  const Outside outside_;
  std::optional<Job> next_;
  std::vector<Task> waiting_;                   ///< In the order in which they are placed.
  std::map<std::uint64_t, Started> running_;    ///< By the number of the start.
  std::map<std::string, std::int64_t> in_use_;  ///< Slots, by group.
  std::uint64_t tasks_ = 0, starts_ = 0, pushes_ = 0, seen_ = 0;
  std::optional<Error> problem_;
};

}  // namespace hostler::simulation
