#include "tests/sim/push_agents.h"

namespace hostler::sim {

/// The init command of the machine knows the instance for which it was made.
std::string PushAgents::name_of(const Machine& machine) const {
  switch (name_) {
    case model::AgentName::kCloudId:
      return machine.id;
    case model::AgentName::kAddress:
      return "10.0.0." + machine.id.substr(machine.id.find('-') + 1);
    case model::AgentName::kInstance:
      break;
  }
  return machine.request.host_instance_id;
}

bool PushAgents::is_up(const Machine& machine) const {
  if (machine.state != model::CloudState::kRunning || machine.never_boots) return false;
  std::uint64_t number = seed_ * 31 + machine.boots;
  for (const char c : machine.id) number = number * 131 + static_cast<unsigned char>(c);
  Random random(number);
  const Duration delay = 1s * static_cast<std::int64_t>(random.below(10));
  if (random.chance(0.07) && has_faults_) return false;
  return time_.now() >= machine.ready_at + delay;
}

std::map<std::string, const Machine*> PushAgents::connected() const {
  std::map<std::string, const Machine*> out;
  const bool vanish = time_.now() < vanished_until_;
  for (const auto& machine : cloud_.machines()) {
    if (!is_its(*machine) || !is_up(*machine)) continue;
    if (vanish && (all_vanish_ || machine->id.back() % 2 == 0)) continue;
    out.emplace(name_of(*machine), machine.get());
  }
  return out;
}

}  // namespace hostler::sim
