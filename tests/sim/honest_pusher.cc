#include "tests/sim/honest_pusher.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

constexpr Duration kAnswerTimeout = 5s;
constexpr const char* kLimited = "limited";  ///< A group with a maximum.

bool has_ended(const Machine& machine, std::uint64_t boots) {
  return machine.state != model::CloudState::kRunning || machine.boots != boots;
}

}  // namespace

HonestPusher::HonestPusher(std::uint64_t seed, std::string pool, std::vector<std::int32_t> sizes,
                           std::int32_t aux_per_agent, PushAgents& agents, Timeline& time,
                           PushWire& wire, Disk::Complain complain)
    : random_(seed ^ 0x40e57),
      pool_(std::move(pool)),
      sizes_(std::move(sizes)),
      aux_per_agent_(aux_per_agent),
      agents_(agents),
      time_(time),
      wire_(wire),
      complain_(std::move(complain)) {}

Duration HonestPusher::between(Duration from, Duration until) {
  return from + 1ms * static_cast<std::int64_t>(
                          random_.below(static_cast<std::uint64_t>((until - from) / 1ms)));
}

void HonestPusher::begin(Duration time) {
  says_hosts_ = sizes_.size() == 1 && random_.chance(0.2);
  for (std::uint64_t n = 1 + random_.below(4); n > 0; --n)
    time_.after(between(0s, time * 3 / 4), [this] { add_tasks(20s); });
  for (std::uint64_t n = random_.below(3); n > 0; --n)
    time_.after(between(10s, time), [this] { restart(); });
  loop();
}

/// A burst of tasks, within this time.
void HonestPusher::add_tasks(Duration time) {
  for (std::uint64_t n = 1 + random_.below(8); n > 0; --n) {
    Task task;
    const std::int32_t size = sizes_[random_.below(sizes_.size())];
    const auto kind = random_.below(10);
    task.asked.slots =
        kind < 6   ? 1 + static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(size)))
        : kind < 8 ? 0
        : kind < 9 ? 2 * sizes_.back()
                   : 3 * sizes_.back() / 2 + 1;  // It never fits.
    if (says_hosts_ && kind == 9) task.asked.slots = 1;
    if (random_.chance(0.3) && task.asked.slots <= size) task.asked.group = kLimited;
    task.length = random_.chance(0.3) ? between(1s, 5s) : between(5s, 90s);
    time_.after(between(0s, time), [this, task]() mutable {
      task.asked.id = "t" + std::to_string(tasks_.size());
      tasks_.push_back(task);
    });
  }
}

/// Its process is killed, and knows its agents again before it pushes.
void HonestPusher::restart() {
  if (!has_faults_) return;
  ++session_;
  sequence_ = seen_ = 0;
  going_.clear();
  may_place_ = false;
  awaited_since_.reset();
}

void HonestPusher::loop() {
  look_at_tasks();
  place();
  if (awaited_since_ && time_.now() < *awaited_since_ + kAnswerTimeout) {
    // It waits for the answer.
  } else {
    push();
  }
  time_.after(between(500ms, 2s), [this] { loop(); });
}

/// What ran on a machine that has ended, or was booted anew, waits again.
void HonestPusher::look_at_tasks() {
  for (Task& task : tasks_) {
    if (task.state != Task::State::kRunning) continue;
    bool is_lost = false;
    for (std::size_t i = 0; i < task.machines.size(); ++i)
      is_lost |= has_ended(*task.machines[i], task.boots[i]);
    if (!is_lost && time_.now() < task.ends) continue;
    task.state = is_lost ? Task::State::kWaiting : Task::State::kDone;
    task.machines.clear(), task.boots.clear();
  }
}

void HonestPusher::place() {
  if (!may_place_) return;
  auto agents = agents_.connected();
  std::erase_if(agents, [&](const auto& agent) { return going_.contains(agent.first); });
  for (Task& task : tasks_)
    if (task.state == Task::State::kWaiting) place(task, agents);
}

void HonestPusher::place(Task& task, const std::map<std::string, const Machine*>& agents) {
  const std::int64_t slots = task.asked.slots;
  if (!task.asked.group.empty() && running_of(kLimited) + slots > sizes_.back()) return;
  const bool is_wide = slots > sizes_.back();
  std::vector<const Machine*> chosen;
  std::int64_t found = 0;
  for (const auto& [name, machine] : agents) {
    std::int64_t used = 0, aux = 0;
    for (const Task& other : tasks_)
      if (std::ranges::count(other.machines, machine) > 0)
        used += other.asked.slots > sizes_.back() ? slots_of(*machine) : other.asked.slots,
            aux += other.asked.slots == 0;
    const std::int64_t free = slots_of(*machine) - used;
    const bool fits = is_wide     ? used == 0 && aux == 0 && slots_of(*machine) == sizes_.back()
                      : slots > 0 ? free >= slots
                                  : aux < aux_per_agent_;
    if (!fits) continue;
    chosen.push_back(machine);
    found += is_wide ? free : slots;
    if (!is_wide || found >= slots) break;
  }
  if (chosen.empty() || found < slots) return;
  task.state = Task::State::kRunning;
  task.ends = time_.now() + task.length;
  task.machines = chosen;
  for (const auto* machine : chosen) task.boots.push_back(machine->boots);
}

std::int32_t HonestPusher::slots_of(const Machine& machine) const {
  return machine.request.type.resources.slots;
}

std::int64_t HonestPusher::running_of(const std::string& group) const {
  std::int64_t out = 0;
  for (const Task& task : tasks_)
    if (task.state == Task::State::kRunning && task.asked.group == group) out += task.asked.slots;
  return out;
}

bool HonestPusher::fits(std::int64_t slots) const {
  return slots <= sizes_.back() ||
         std::ranges::any_of(sizes_, [&](std::int32_t size) { return slots % size == 0; });
}

bool HonestPusher::uses(model::InstanceId host) const {
  return std::ranges::any_of(tasks_, [&](const Task& task) {
    for (std::size_t i = 0; i < task.machines.size(); ++i)
      if (task.machines[i]->instance == host && !has_ended(*task.machines[i], task.boots[i]) &&
          time_.now() < task.ends)
        return true;
    return false;
  });
}

bool HonestPusher::is_done() const {
  return std::ranges::all_of(tasks_, [](const Task& task) {
    return task.state == Task::State::kDone || task.state == Task::State::kRefused;
  });
}

// ---- pushes ------------------------------------------------------------------------------------

void HonestPusher::push() {
  const auto push = next_push(agents_.connected());
  awaited_since_ = time_.now();
  wire_.send({pool_, "honest", push}, [this, session = session_, sequence = sequence_](
                                          const auto& result) { hear(session, sequence, result); });
}

model::Push HonestPusher::next_push(const std::map<std::string, const Machine*>& agents) {
  model::Push out;
  out.session = "s-" + std::to_string(session_);
  out.sequence = ++sequence_;
  out.seen = seen_;
  for (const auto& [name, machine] : agents) {
    const bool is_busy = std::ranges::any_of(tasks_, [&, one = machine](const Task& task) {
      return std::ranges::count(task.machines, one) > 0;
    });
    out.agents.push_back({name, !is_busy});
  }
  if (says_hosts_) {
    out.desired_new = whole_hosts();
    return out;
  }
  for (const Task& task : tasks_)
    if (task.state == Task::State::kWaiting) out.tasks.push_back(task.asked);
  out.group_max[kLimited] = sizes_.back() - running_of(kLimited);
  return out;
}

/// What waits, less what has room already.
std::int64_t HonestPusher::whole_hosts() const {
  std::int64_t slots = 0, aux = 0;
  for (const Task& task : tasks_) {
    if (task.state != Task::State::kWaiting) continue;
    slots += task.asked.slots;
    aux += task.asked.slots == 0;
  }
  return (slots + sizes_.back() - 1) / sizes_.back() + (aux + aux_per_agent_ - 1) / aux_per_agent_;
}

/// Answers to a process that is no more go nowhere; older ones say less than the last.
void HonestPusher::hear(std::uint64_t session, std::uint64_t sequence,
                        const Result<model::PushAnswer>& result) {
  if (session != session_) return;
  if (sequence == sequence_) awaited_since_.reset();
  if (!result || result->answer <= seen_) return;
  seen_ = result->answer;
  going_ = {result->going.begin(), result->going.end()};
  may_place_ = true;
  for (const auto& told : result->never_fits) refuse(told);
}

void HonestPusher::refuse(const model::NeverFits& told) {
  for (Task& task : tasks_) {
    if (task.asked.id != told.id) continue;
    if (fits(task.asked.slots)) complain_("a task that fits is refused: " + told.id);
    task.state = Task::State::kRefused;
  }
}

}  // namespace hostler::sim
