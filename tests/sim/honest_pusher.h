#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/sim/push_agents.h"
#include "tests/sim/push_wire.h"

namespace hostler::sim {

/// An outside scheduler that keeps the promise of docs/pushed.md: it places nothing on an agent
/// that the last answer has named, and a new session places nothing before its first answer. Its
/// process starts again now and then; its tasks stay on their agents meanwhile.
class HonestPusher {
 public:
  /// `sizes`: slots of the types of its pool, ascending.
  HonestPusher(std::uint64_t seed, std::string pool, std::vector<std::int32_t> sizes,
               std::int32_t aux_per_agent, PushAgents& agents, Timeline& time, PushWire& wire,
               Disk::Complain complain);

  /// Its loop begins; tasks come within this time.
  void begin(Duration time);
  /// It asks for no new tasks, and starts no more.
  void end_faults() { has_faults_ = false; }
  /// All its tasks have been run, or can never be.
  [[nodiscard]] bool is_done() const;
  /// A task runs on the machine of the instance.
  [[nodiscard]] bool uses(model::InstanceId host) const;

 private:
  struct Task {
    model::PushedTask asked;
    Duration length{};
    enum class State { kWaiting, kRunning, kDone, kRefused } state = State::kWaiting;
    Mono ends;
    std::vector<const Machine*> machines;  ///< While it runs.
    std::vector<std::uint64_t> boots;      ///< Of these.
  };

  void add_tasks(Duration time);
  void loop();
  void restart();
  void look_at_tasks();
  void place();
  void place(Task& task, const std::map<std::string, const Machine*>& agents);
  void push();
  [[nodiscard]] model::Push next_push(const std::map<std::string, const Machine*>& agents);
  [[nodiscard]] std::int64_t whole_hosts() const;
  void hear(std::uint64_t session, std::uint64_t sequence, const Result<model::PushAnswer>& result);
  void refuse(const model::NeverFits& told);
  [[nodiscard]] bool fits(std::int64_t slots) const;
  [[nodiscard]] std::int32_t slots_of(const Machine& machine) const;
  [[nodiscard]] std::int64_t running_of(const std::string& group) const;
  [[nodiscard]] Duration between(Duration from, Duration until);

  Random random_;
  const std::string pool_;
  const std::vector<std::int32_t> sizes_;
  const std::int32_t aux_per_agent_;
  PushAgents& agents_;
  Timeline& time_;
  PushWire& wire_;
  Disk::Complain complain_;
  std::vector<Task> tasks_;
  bool has_faults_ = true;
  bool says_hosts_ = false;  ///< It pushes a number of hosts in place of tasks.
  // The state of its process.
  std::uint64_t session_ = 1, sequence_ = 0, seen_ = 0;
  std::set<std::string> going_;
  bool may_place_ = false;
  std::optional<Mono> awaited_since_;  ///< The answer to the last push.
};

}  // namespace hostler::sim
