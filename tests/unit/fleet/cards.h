#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/fleet/occupancy.h"

/// Cards for tests, by one digit: card 3 has the UUID "GPU-3".
namespace hostler::fleet {

inline std::string uuid(int index) { return "GPU-" + std::to_string(index); }

inline model::Card card(int index, std::string problem = {}, std::string kind = "a100") {
  model::Card out;
  out.uuid = uuid(index);
  out.index = index;
  out.kind = std::move(kind);
  out.problem = std::move(problem);
  return out;
}
/// A good reading.
inline model::CardReport reading(std::vector<model::Card> cards) {
  model::CardReport out;
  out.source = "command";
  out.cards = std::move(cards);
  return out;
}
inline model::CardReport failed_reading(std::string problem = "it took too long") {
  model::CardReport out;
  out.source = "command";
  out.problem = std::move(problem);
  return out;
}
inline model::InstanceType type_of(std::int32_t gpus, model::GpuGroups groups = {}) {
  model::InstanceType out;
  out.name = "g";
  out.resources = {.vcpus = 8, .gpus = gpus, .ram = 8192, .scratch = 0};
  out.gpu_groups = std::move(groups);
  return out;
}

}  // namespace hostler::fleet
