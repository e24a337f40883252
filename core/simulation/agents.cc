#include "core/simulation/agents.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace hostler::simulation {

using model::InstanceId;

void Agents::add(InstanceId host, std::string name, std::int32_t slots) {
  agents_.try_emplace(host, Agent{.name = std::move(name), .slots = slots});
}

bool Agents::takes(const Agent& agent, std::int32_t slots) const {
  if (avoided_.contains(agent.name)) return false;
  return slots == 0 ? agent.aux < aux_max_ : agent.free() >= slots;
}

std::pair<const InstanceId, Agents::Agent>* Agents::best_for(std::int32_t slots) {
  std::pair<const InstanceId, Agent>* best = nullptr;
  for (auto& one : agents_)
    if (takes(one.second, slots) && (best == nullptr || one.second.free() < best->second.free()))
      best = &one;
  return best;
}

std::vector<InstanceId> Agents::place(std::int32_t slots) {
  if (slots > widest_) return place_on_several(slots);
  for (auto& [host, agent] : agents_) agent.spare = 0;
  auto* best = best_for(slots);
  if (best == nullptr) return {};
  best->second.used += slots;
  best->second.aux += slots == 0 ? 1 : 0;
  return {best->first};
}

std::vector<std::int32_t> Agents::keep_spare(std::vector<std::int32_t> slots) {
  for (auto& [host, agent] : agents_) agent.spare = 0;
  std::ranges::sort(slots, std::ranges::greater());
  std::erase_if(slots, [this](std::int32_t each) {
    auto* best = best_for(each);
    if (best != nullptr) best->second.spare += each;
    return best != nullptr;
  });
  return slots;
}

/// Only of equal size, and empty.
std::vector<InstanceId> Agents::place_on_several(std::int32_t slots) {
  std::map<std::int32_t, std::vector<InstanceId>> free;  // By size.
  for (const auto& [host, agent] : agents_)
    if (agent.slots > 0 && agent.is_idle() && takes(agent, agent.slots))
      free[agent.slots].push_back(host);
  for (auto& [size, hosts] : free) {
    const auto wanted = static_cast<std::size_t>(slots / size);
    if (slots % size != 0 || hosts.size() < wanted) continue;
    hosts.resize(wanted);
    for (const InstanceId host : hosts) agents_.at(host).used = size;
    return hosts;
  }
  return {};
}

void Agents::release(std::int32_t slots, const std::vector<InstanceId>& hosts) {
  for (const InstanceId host : hosts) {
    const auto found = agents_.find(host);
    if (found == agents_.end()) continue;
    Agent& agent = found->second;
    agent.used -= hosts.size() > 1 ? agent.slots : slots;
    agent.aux -= slots == 0 ? 1 : 0;
  }
}

std::vector<model::PushedAgent> Agents::listed() const {
  std::vector<model::PushedAgent> out;
  out.reserve(agents_.size());
  for (const auto& [host, agent] : agents_)
    out.push_back({agent.name, agent.is_idle() && agent.spare == 0});
  return out;
}

}  // namespace hostler::simulation
