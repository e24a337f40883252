#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/simulation/agents.h"
#include "core/simulation/load.h"
#include "core/simulation/report.h"
#include "core/simulation/timeline.h"
#include "core/simulation/waits.h"

namespace hostler::simulation {

/// The result of all tasks of outside schedulers.
struct TaskCount {
  TaskFigures figures;  ///< Without the waits.
  Waits waits;          ///< Until the first start.
  [[nodiscard]] TaskFigures complete();
};

/// The tasks of an outside scheduler: those that wait, in the order of their arrival, and those
/// that run on its agents.
class TaskQueue {
 public:
  using GroupMax = std::map<std::string, std::int64_t>;

  /// `group_max`: slots that the tasks of a group may use. All but the agents outlive it.
  TaskQueue(Timeline& time, Agents agents, const GroupMax& group_max, TaskCount& count)
      : time_(time),
        start_(time.now()),
        group_max_(group_max),
        count_(count),
        agents_(std::move(agents)) {}

  /// A task arrives. place() starts it.
  void add(Job job);
  /// Starts all tasks for which there is room. A task that ends does this too.
  void place();
  /// The host has gone: its tasks wait again, before all others.
  void lost(model::InstanceId host);
  /// Nothing will ever run this task.
  void give_up(const std::string& id);
  /// Nothing comes any more: tasks that have not started count with their wait until now.
  void end(Duration lasted);

  [[nodiscard]] Agents& agents() { return agents_; }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  /// As a push says them.
  [[nodiscard]] std::vector<model::PushedTask> waiting() const;

 private:
  struct Task {
    std::string id;
    Job job;  ///< Its user is the group.
    bool was_started = false;
  };
  struct Started {
    Task task;
    std::vector<model::InstanceId> hosts;
  };

  [[nodiscard]] bool start(Task& task);
  void finish(std::uint64_t start);
  /// It uses its agents no more.
  void stop(const Started& started);
  [[nodiscard]] bool is_held_back(const Job& job) const;

  Timeline& time_;
  const Mono start_;
  const GroupMax& group_max_;
  TaskCount& count_;
  Agents agents_;
  std::vector<Task> waiting_;
  std::map<std::uint64_t, Started> running_;    ///< By the number of the start.
  std::map<std::string, std::int64_t> in_use_;  ///< Slots, by group.
  std::uint64_t tasks_ = 0, starts_ = 0;
};

}  // namespace hostler::simulation
