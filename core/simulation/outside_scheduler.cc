#include "core/simulation/outside_scheduler.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace hostler::simulation {
namespace {

/// Tickets of one scheduler. Those of submits are below all of them.
constexpr dispatch::Ticket kTickets = dispatch::Ticket{1} << 40U;

/// As the scheduler of the pool knows the agent there.
std::string name_of(const Machine& machine, model::AgentName kind) {
  // A machine's address is its id.
  return kind == model::AgentName::kInstance ? machine.instance.text() : machine.id;
}

}  // namespace

TaskFigures TaskCount::complete() {
  figures.has_waits = !waits.empty();
  figures.wait_mean = waits.mean();
  figures.wait_median = waits.quantile(0.5);
  figures.wait_p95 = waits.quantile(0.95);
  figures.wait_most = waits.quantile(1);
  return figures;
}

OutsideScheduler::OutsideScheduler(Timeline& time, const PushedLoad& scheduler,
                                   const model::PoolPolicy& pool, Agents agents, Load load,
                                   std::uint64_t number, TaskCount& count, Outside outside)
    : time_(time),
      start_(time.now()),
      scheduler_(scheduler),
      pool_(pool),
      agents_(std::move(agents)),
      load_(std::move(load)),
      first_ticket_(kTickets * (number + 1)),
      count_(count),
      outside_(std::move(outside)) {}

void OutsideScheduler::begin() {
  if (auto waits = await_task(); !waits) problem_ = std::move(waits.error());
  tick();
}

Result<void> OutsideScheduler::await_task() {
  if (!next_) next_ = HOSTLER_TRY(load_.next());
  if (!next_) return {};
  time_.at(start_ + next_->at, [this] {
    if (auto taken = take_due(); !taken) problem_ = std::move(taken.error());
  });
  return {};
}

Result<void> OutsideScheduler::take_due() {
  while (next_ && start_ + next_->at <= time_.now()) {
    if (waiting_.size() >= model::kPushedTasksMax)
      return fail(Errc::kTooLarge, "pushed: more than " + std::to_string(model::kPushedTasksMax) +
                                       " tasks of pool \"" + pool_.name +
                                       "\" wait at once, which is the limit of a push");
    ++count_.figures.arrived;
    waiting_.push_back({.number = ++tasks_, .job = std::move(*next_)});
    next_ = HOSTLER_TRY(load_.next());
  }
  place();
  return await_task();
}

void OutsideScheduler::tick() {
  connect();
  place();
  push();
  time_.after(scheduler_.interval, [this] { tick(); });
}

/// The agents of hosts that have come up.
void OutsideScheduler::connect() {
  for (const Machine* machine : outside_.machines()) {
    const auto pool = machine->request.tags.find(model::tag::kPool);
    if (pool == machine->request.tags.end() || pool->second != pool_.name) continue;
    if (machine->comes_up && time_.now() >= machine->ready_at)
      agents_.add(machine->instance, name_of(*machine, pool_.pushed->agent_name),
                  machine->request.type.resources.slots);
  }
}

void OutsideScheduler::place() {
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

bool OutsideScheduler::start(Task& task) {
  auto hosts = agents_.place(task.job.shape.needs.slots);
  if (hosts.empty()) return false;
  if (!std::exchange(task.was_started, true)) count_.waits.add(time_.now() - start_ - task.job.at);
  use(task.job, 1);
  const Duration runs = task.job.runs;
  const std::uint64_t number = ++starts_;
  running_.emplace(number, Started{std::move(task), std::move(hosts)});
  time_.after(runs, [this, number] {
    const auto found = running_.find(number);
    if (found == running_.end()) return;
    const Started ended = std::move(found->second);
    running_.erase(found);
    ++count_.figures.ended;
    use(ended.task.job, -1);
    agents_.release(ended.task.job.shape.needs.slots, ended.hosts);
    place();
  });
  return true;
}

bool OutsideScheduler::is_held_back(const Job& job) const {
  const auto most = scheduler_.group_max.find(job.user);
  if (most == scheduler_.group_max.end()) return false;
  const auto used = in_use_.find(job.user);
  return (used == in_use_.end() ? 0 : used->second) + job.shape.needs.slots > most->second;
}

void OutsideScheduler::use(const Job& job, std::int64_t sign) {
  in_use_[job.user] += sign * job.shape.needs.slots;
}

void OutsideScheduler::lost(model::InstanceId host) {
  std::vector<Task> again;
  for (auto it = running_.begin(); it != running_.end();) {
    auto& [task, hosts] = it->second;
    if (std::ranges::find(hosts, host) == hosts.end()) {
      ++it;
      continue;
    }
    ++count_.figures.started_again;
    use(task.job, -1);
    agents_.release(task.job.shape.needs.slots, hosts);
    again.push_back(std::move(task));
    it = running_.erase(it);
  }
  agents_.remove(host);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()),
                  std::make_move_iterator(again.end()));
}

void OutsideScheduler::push() {
  dispatch::PushReceived event{.ticket = first_ticket_ + ++pushes_,
                               .principal = "scheduler of " + pool_.name,
                               .pool = pool_.name,
                               .push = {}};
  event.push.session = "simulated";
  event.push.sequence = pushes_;
  event.push.seen = seen_;
  event.push.agents = agents_.listed();
  event.push.group_max = scheduler_.group_max;
  for (const Task& task : waiting_)
    event.push.tasks.push_back(
        {std::to_string(task.number), task.job.shape.needs.slots, task.job.user});
  ++count_.figures.pushes;
  outside_.post(std::move(event));
}

bool OutsideScheduler::hear(const dispatch::PushReply& answer) {
  if (answer.ticket <= first_ticket_ || answer.ticket > first_ticket_ + pushes_) return false;
  if (!answer.result) {
    if (count_.figures.pushes_refused++ == 0)
      count_.figures.refusal = answer.result.error().message;
    return true;
  }
  seen_ = answer.result->answer;
  agents_.avoid(answer.result->going);
  for (const model::NeverFits& task : answer.result->never_fits) {
    const auto is_it = [&](const Task& one) { return std::to_string(one.number) == task.id; };
    count_.figures.never_fit += std::erase_if(waiting_, is_it);
  }
  return true;
}

void OutsideScheduler::end(Duration lasted) {
  count_.figures.waiting += std::ssize(waiting_);
  count_.figures.running += std::ssize(running_);
  for (const Task& task : waiting_)
    if (!task.was_started) count_.waits.add(lasted - task.job.at);
}

}  // namespace hostler::simulation
