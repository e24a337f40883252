#include "core/simulation/task_queue.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace hostler::simulation {

TaskFigures TaskCount::complete() {
  figures.has_waits = !waits.empty();
  figures.wait_mean = waits.mean();
  figures.wait_median = waits.quantile(0.5);
  figures.wait_p95 = waits.quantile(0.95);
  figures.wait_most = waits.quantile(1);
  return figures;
}

void TaskQueue::add(Job job) {
  ++count_.figures.arrived;
  waiting_.push_back({.id = std::to_string(++tasks_), .job = std::move(job)});
}

void TaskQueue::place() {
  std::vector<Task> left;
  std::set<std::int32_t> no_room;  // For tasks of so many slots.
  for (Task& task : std::exchange(waiting_, {})) {
    const std::int32_t slots = task.job.shape.needs.slots;
    if (!no_room.contains(slots) && !is_held_back(task.job)) {
      if (start(task)) continue;
      no_room.insert(slots);
    }
    left.push_back(std::move(task));
  }
  waiting_ = std::move(left);
}

bool TaskQueue::is_held_back(const Job& job) const {
  const auto most = group_max_.find(job.user);
  if (most == group_max_.end()) return false;
  const auto used = in_use_.find(job.user);
  return (used == in_use_.end() ? 0 : used->second) + job.shape.needs.slots > most->second;
}

bool TaskQueue::start(Task& task) {
  const std::int32_t slots = task.job.shape.needs.slots;
  auto hosts = agents_.place(slots);
  if (hosts.empty()) return false;
  if (!std::exchange(task.was_started, true)) count_.waits.add(time_.now() - start_ - task.job.at);
  in_use_[task.job.user] += slots;
  const Duration runs = task.job.runs;
  const std::uint64_t number = ++starts_;
  running_.emplace(number, Started{std::move(task), std::move(hosts)});
  time_.after(runs, [this, number] { finish(number); });
  return true;
}

void TaskQueue::finish(std::uint64_t start) {
  const auto found = running_.find(start);
  if (found == running_.end()) return;  // Its host has gone.
  stop(found->second);
  running_.erase(found);
  ++count_.figures.ended;
  place();
}

void TaskQueue::stop(const Started& started) {
  const Job& job = started.task.job;
  in_use_[job.user] -= job.shape.needs.slots;
  agents_.release(job.shape.needs.slots, started.hosts);
}

void TaskQueue::lost(model::InstanceId host) {
  std::vector<Task> again;
  for (auto it = running_.begin(); it != running_.end();) {
    Started& started = it->second;
    if (std::ranges::find(started.hosts, host) == started.hosts.end()) {
      ++it;
      continue;
    }
    ++count_.figures.started_again;
    stop(started);
    again.push_back(std::move(started.task));
    it = running_.erase(it);
  }
  agents_.remove(host);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()),
                  std::make_move_iterator(again.end()));
}

void TaskQueue::give_up(const std::string& id) {
  count_.figures.never_fit +=
      std::erase_if(waiting_, [&](const Task& one) { return one.id == id; });
}

std::vector<model::PushedTask> TaskQueue::waiting() const {
  std::vector<model::PushedTask> out;
  out.reserve(waiting_.size());
  for (const Task& task : waiting_)
    out.push_back({task.id, task.job.shape.needs.slots, task.job.user});
  return out;
}

void TaskQueue::end(Duration lasted) {
  count_.figures.waiting += std::ssize(waiting_);
  count_.figures.running += std::ssize(running_);
  for (const Task& task : waiting_)
    if (!task.was_started) count_.waits.add(lasted - task.job.at);
}

}  // namespace hostler::simulation
