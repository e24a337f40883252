#include "core/simulation/outside_scheduler.h"

#include <utility>

namespace hostler::simulation {
namespace {

/// Tickets of one scheduler. Those of submits are below all of them.
constexpr dispatch::Ticket kTickets = dispatch::Ticket{1} << 40U;

/// As the scheduler of the pool knows the agent there.
std::string agent_on(const Machine& machine, model::AgentName kind) {
  // A machine's address is its id.
  return kind == model::AgentName::kInstance ? machine.instance.text() : machine.id;
}

}  // namespace

OutsideScheduler::OutsideScheduler(Timeline& time, const PushedLoad& scheduler,
                                   const model::PoolPolicy& pool, Agents agents, Load load,
                                   std::uint64_t number, TaskCount& count, Outside outside)
    : time_(time),
      start_(time.now()),
      scheduler_(scheduler),
      pool_(pool),
      load_(std::move(load)),
      first_ticket_(kTickets * (number + 1)),
      count_(count),
      outside_(std::move(outside)),
      tasks_(time, std::move(agents), scheduler.group_max, count) {}

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
    if (tasks_.size() + scheduler_.spare.size() >= model::kPushedTasksMax)
      return fail(Errc::kTooLarge, "pushed: more than " + std::to_string(model::kPushedTasksMax) +
                                       " tasks of pool \"" + pool_.name +
                                       "\" wait at once, which is the limit of a push");
    tasks_.add(std::move(*next_));
    next_ = HOSTLER_TRY(load_.next());
  }
  tasks_.place();
  return await_task();
}

void OutsideScheduler::tick() {
  connect();
  tasks_.place();
  push();
  time_.after(scheduler_.interval, [this] { tick(); });
}

/// The agents of hosts that have come up.
void OutsideScheduler::connect() {
  for (const Machine* machine : outside_.machines()) {
    const auto pool = machine->request.tags.find(model::tag::kPool);
    if (pool == machine->request.tags.end() || pool->second != pool_.name) continue;
    if (machine->comes_up && time_.now() >= machine->ready_at)
      tasks_.agents().add(machine->instance, agent_on(*machine, pool_.pushed->agent_name),
                          machine->request.type.resources.slots);
  }
}

void OutsideScheduler::push() {
  dispatch::PushReceived event{.ticket = first_ticket_ + ++pushes_,
                               .principal = "scheduler of " + pool_.name,
                               .pool = pool_.name,
                               .push = {}};
  event.push.session = "simulated";
  event.push.sequence = pushes_;
  event.push.seen = seen_;
  event.push.tasks = tasks_.waiting();
  for (const std::int32_t slots : tasks_.agents().keep_spare(scheduler_.spare))
    event.push.tasks.push_back({"spare-" + std::to_string(event.push.tasks.size()), slots, ""});
  event.push.agents = tasks_.agents().listed();
  event.push.group_max = scheduler_.group_max;
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
  tasks_.agents().avoid(answer.result->going);
  for (const model::NeverFits& task : answer.result->never_fits) tasks_.give_up(task.id);
  return true;
}

}  // namespace hostler::simulation
